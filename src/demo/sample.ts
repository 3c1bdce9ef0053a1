/** Where the state of a sample server comes from. */
type SampleKind =
  /** A fake server answers when it is asked. */
  | 'probed'
  /** It reports its own status; nothing of it can be asked. */
  | 'reporting'
  /** Nobody answers there for some days now. */
  | 'gone';

/** A made-up game server: what its owner and it say of themselves, and how busy it is. */
export type Sample = {
  name: string;
  /** gamedig's id; null for a game that cannot be asked. */
  game: string | null;
  /** Players' port, where it is not the usual one of the game. */
  port?: number;
  countryCode: string;
  version: string;
  motd: string;
  activity: {
    /** Players that it has places for. */
    places: number;
    /** The share of the places that is taken on a good evening, 0 to 1. */
    busy: number;
    /** On an average day. */
    votes: number;
    /** In all its time. */
    reviews: number;
  };
  kind: SampleKind;
  isPremium: boolean;
  /** How long ago it was listed; it has no history before. */
  listedDays: number;
  howToVote?: string;
  /** What it was called when it was listed. */
  formerName?: string;
};

/** What most samples have in common may be left out. */
type Written = Pick<Sample, 'name' | 'countryCode' | 'version' | 'motd' | 'activity'> & Partial<Sample>;

/** A sample as `samples.ts` writes it. */
export function sample(game: string | null, written: Written): Sample {
  return { game, kind: 'probed', isPremium: false, listedDays: 400, ...written };
}
