import type { Binary } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';

const rankedListDefinition = {
  /** The list's key and the part's number from 0: `f:game=minecraft&online/3` (see `listKey`, `termKey`). */
  _id: { type: String, required: true },
  /** The ids of this part's servers, 12 bytes each. */
  ids: { type: Buffer, required: true },
  /** How many servers the whole list has; a list of names that hold a piece keeps the best of them only. */
  total: { type: Number, required: true },
  /** Of `ids` and `total`: what has the same one need not be written again. */
  digest: { type: String, required: true },
} as const;

/**
 * The servers that have something in common, in the order of their rank, cut into parts: what a page of the
 * listing shows is a piece of one. Derived data: every ranking writes anew what changed.
 */
export const rankedListSchema = new Schema(rankedListDefinition, { collection: 'ranked_lists' });

export type RankedList = Omit<InferRawDocType<typeof rankedListDefinition>, 'ids'> & { ids: Binary };

/** Something to filter by, and how many servers have it. */
const choice = {
  value: { type: String, required: true },
  servers: { type: Number, required: true },
} as const;
const choices = { type: [new Schema(choice, { _id: false })], required: true } as const;

const listingSummaryDefinition = {
  _id: { type: String, required: true },
  /** How many servers have a place. */
  servers: { type: Number, required: true },
  online: { type: Number, required: true },
  /** Each with the most servers first. */
  games: choices,
  countries: choices,
  versions: choices,
  /** Of which names the lists of their pieces were made, and when. */
  names: {
    type: new Schema(
      { digest: { type: String, required: true }, at: { type: Date, required: true } },
      { _id: false },
    ),
    required: true,
  },
} as const;

/** What there is to filter by: one document, written with the lists. */
export const listingSummarySchema = new Schema(listingSummaryDefinition, { collection: 'listing_summary' });

export type Choice = { value: string; servers: number };

/** What the pages say of the whole listing. */
export type Choices = {
  servers: number;
  online: number;
  games: Choice[];
  countries: Choice[];
  versions: Choice[];
};
export type ListingSummary = Choices & { _id: string; names: { digest: string; at: Date } };

/** The id of the one document. */
export const SUMMARY = 'listing';
