/** Where the state of a sample server comes from. */
type SampleKind =
  /** A fake server answers queries. */
  | 'probed'
  /** The server reports its own status and answers no queries. */
  | 'reporting'
  /** The server has not answered for some days. */
  | 'gone';

/** A made-up game server: its settings, its status and its activity. */
export type Sample = {
  name: string;
  /** The id of the game in gamedig; null for a game that gamedig cannot query. */
  game: string | null;
  /** The port for players, unless it is the default port of the game. */
  port?: number;
  countryCode: string;
  version: string;
  motd: string;
  activity: {
    slots: number;
    /** The share of the slots that is used on a busy evening, 0 to 1. */
    busy: number;
    /** Votes on an average day. */
    votes: number;
    reviews: number;
  };
  kind: SampleKind;
  isPremium: boolean;
  /** How many days ago the server was listed. It has no older history. */
  listedDays: number;
  howToVote?: string;
  /** The name under which it was first listed, before it was renamed. */
  formerName?: string;
};

/** The fields of a sample; those with a common default are optional. */
type Written = Pick<Sample, 'name' | 'countryCode' | 'version' | 'motd' | 'activity'> & Partial<Sample>;

/** A sample as `samples.ts` defines it, with the defaults filled in. */
export function sample(game: string | null, written: Written): Sample {
  return { game, kind: 'probed', isPremium: false, listedDays: 400, ...written };
}
