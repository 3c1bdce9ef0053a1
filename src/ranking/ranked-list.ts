import type { Binary } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';

const rankedListDefinition = {
  /**
   * The list's key and the part's number from 0: `f:game=minecraft&online/3`, `s:players:/0` (see `listKey`, `termKey`,
   * `textKey`).
   */
  _id: { type: String, required: true },
  /** The ids of this part's servers, 12 bytes each. */
  ids: { type: Buffer, required: true },
  /** The number of servers in the whole list. The list of a search term stores only the best-ranked of them. */
  total: { type: Number, required: true },
  /** The digest of `ids` and `total`: a part with the same digest is not written again. */
  digest: { type: String, required: true },
} as const;

/**
 * The servers of one set of filters in one order, or of one search term, in parts. A page of the listing reads a slice
 * of one part. Derived data: every ranking writes the parts that changed.
 */
export const rankedListSchema = new Schema(rankedListDefinition, { collection: 'ranked_lists' });

export type RankedList = Omit<InferRawDocType<typeof rankedListDefinition>, 'ids'> & { ids: Binary };

/** A value to filter by, and the number of servers with it. */
const choice = {
  value: { type: String, required: true },
  servers: { type: Number, required: true },
} as const;
const choices = { type: [new Schema(choice, { _id: false })], required: true } as const;

const listingSummaryDefinition = {
  _id: { type: String, required: true },
  /** The number of ranked servers. */
  servers: { type: Number, required: true },
  online: { type: Number, required: true },
  /** Players of the servers that were online, and votes of 30 days. Absent in a summary of an older version. */
  playing: { type: Number },
  votes: { type: Number },
  /** Values with the most servers first. */
  games: choices,
  countries: choices,
  versions: choices,
  /** The number of servers without a game. Absent in a summary of an older version. */
  withoutGame: { type: Number },
  /** The versions of each of these games, by its id. Absent in a summary of an older version. */
  gameVersions: { type: Schema.Types.Mixed },
  /** Tags with the most servers first. Absent in a summary of an older version, as are the three fields below. */
  tags: { type: choices.type },
  /** The tags and the countries of each game, and the games of each tag, by its id or key. */
  gameTags: { type: Schema.Types.Mixed },
  gameCountries: { type: Schema.Types.Mixed },
  tagGames: { type: Schema.Types.Mixed },
  /** The digest of the names in the term lists, and when these were written. */
  names: {
    type: new Schema(
      { digest: { type: String, required: true }, at: { type: Date, required: true } },
      { _id: false },
    ),
    required: true,
  },
  /**
   * The digest of the other texts (`textsOf`) in the term lists, and when these were written. Absent in a summary of an
   * older version.
   */
  texts: {
    type: new Schema(
      { digest: { type: String, required: true }, at: { type: Date, required: true } },
      { _id: false },
    ),
  },
} as const;

/** The values to filter by: one document, written with the lists. */
export const listingSummarySchema = new Schema(listingSummaryDefinition, { collection: 'listing_summary' });

export type Choice = { value: string; servers: number };

/** The figures of the whole listing. */
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
};
type Written = { digest: string; at: Date };
export type StoredListingSummary = ListingSummary & { _id: string; names: Written; texts?: Written };

/** The id of the one document. */
export const SUMMARY = 'listing';
