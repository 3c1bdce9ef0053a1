import type { Binary, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';

const rankedListDefinition = {
  /**
   * The list's key and the number of the part, from 0: `f:game=minecraft&online/3`, `s:players:/0`. For the keys, see
   * `listKey`, `termKey` and `textKey`.
   */
  _id: { type: String, required: true },
  /** 12 bytes each. */
  ids: { type: Buffer, required: true },
  /** Of the whole list. The list of a search term stores only the best-ranked ones. */
  total: { type: Number, required: true },
  /** A part with the same digest is not written again. */
  digest: { type: String, required: true },
} as const;

/**
 * One list for each set of filters in each order, and one for each search term, in parts. A page of the listing reads a
 * slice of one part. A ranking writes only parts that changed.
 */
export const rankedListSchema = new Schema(rankedListDefinition, { collection: 'ranked_lists' });

export type RankedList = Omit<InferRawDocType<typeof rankedListDefinition>, 'ids'> & { ids: Binary };

const choice = {
  value: { type: String, required: true },
  servers: { type: Number, required: true },
} as const;
const choices = { type: [new Schema(choice, { _id: false })], required: true } as const;

const written = new Schema(
  { digest: { type: String, required: true }, at: { type: Date, required: true } },
  { _id: false },
);

const listingSummaryDefinition = {
  _id: { type: String, required: true },
  servers: { type: Number, required: true },
  online: { type: Number, required: true },
  /** Players of the servers that were online, and votes of 30 days. Absent in a summary of an older version. */
  playing: { type: Number },
  votes: { type: Number },
  /** Values with the most servers are first. */
  games: choices,
  countries: choices,
  versions: choices,
  /** Absent in a summary of an older version. */
  withoutGame: { type: Number },
  /** By the game's id. Absent in a summary of an older version. */
  gameVersions: { type: Schema.Types.Mixed },
  /** Tags with the most servers first. Absent in a summary of an older version, like the next three fields. */
  tags: { type: choices.type },
  /** The tags and the countries of each game, and the games of each tag, by the game's id or the tag's key. */
  gameTags: { type: Schema.Types.Mixed },
  gameCountries: { type: Schema.Types.Mixed },
  tagGames: { type: Schema.Types.Mixed },
  /** Absent in a summary of an older version. */
  picks: { type: Schema.Types.Mixed },
  /** Of the term lists of names: the digest of the names, and when the lists were written. */
  names: { type: written, required: true },
  /** The same for the term lists of all other texts (`textsOf`). Absent in a summary of an older version. */
  texts: { type: written },
} as const;

/** One document, written with the lists. */
export const listingSummarySchema = new Schema(listingSummaryDefinition, { collection: 'listing_summary' });

export type Choice = { value: string; servers: number };

/** For the home page. `places`: how many ranks the server has risen within a week. */
export type Picks = { rising: { id: ObjectId; places: number }[]; newcomers: ObjectId[] };

export type ListingSummary = {
  servers: number;
  online: number;
  playing?: number;
  votes?: number;
  games: Choice[];
  countries: Choice[];
  versions: Choice[];
  withoutGame?: number;
  gameVersions?: Record<string, Choice[]>;
  tags?: Choice[];
  gameTags?: Record<string, Choice[]>;
  gameCountries?: Record<string, Choice[]>;
  tagGames?: Record<string, Choice[]>;
  picks?: Picks;
};
type Written = { digest: string; at: Date };
export type StoredListingSummary = ListingSummary & { _id: string; names: Written; texts?: Written };

export const SUMMARY = 'listing';
