/** Where the state of a sample server comes from. */
type SampleKind =
  /** A fake server answers queries. */
  | 'probed'
  /** It reports its own status and answers no queries. */
  | 'reporting'
  /** It has not answered for some days. */
  | 'gone';

/** A made-up game server: its settings, its status and its activity. */
export type Sample = {
  name: string;
  /** gamedig's id; null for a game that gamedig cannot query. */
  game: string | null;
  /** The port for players, unless it is the default port of the game. */
  port?: number;
  countryCode: string;
  version: string;
  motd: string;
  activity: {
    /** The number of player slots. */
    slots: number;
    /** The share of the slots that is used on a busy evening, 0 to 1. */
    busy: number;
    /** Votes on an average day. */
    votes: number;
    /** The total number of reviews. */
    reviews: number;
  };
  kind: SampleKind;
  isPremium: boolean;
  /** How many days ago it was listed. It has no history before that. */
  listedDays: number;
  howToVote?: string;
  /** The name that it was listed under. */
  formerName?: string;
};

/** Fields that most samples share are optional here. */
type Written = Pick<Sample, 'name' | 'countryCode' | 'version' | 'motd' | 'activity'> & Partial<Sample>;

/** A sample as `samples.ts` writes it. */
export function sample(game: string | null, written: Written): Sample {
  return { game, kind: 'probed', isPremium: false, listedDays: 400, ...written };
}
