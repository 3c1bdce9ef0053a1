import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../document.ts';

/** A recount of a day on which votes are still being cast (see recount-votes.ts). */
const recountDefinition = {
  id: { type: Schema.Types.UUID, required: true },
  /** The UTC day of the month, `21`. */
  day: { type: String, required: true },
  /** Votes cast before are counted from the votes; those from then on, itself included, in `newer`. */
  from: { type: Date, required: true },
  newer: { type: Number, required: true },
  /** On mongod's clock. */
  startedAt: { type: Date, required: true },
} as const;

/** One increment, by which the process that made it finds its number. */
const raiseDefinition = {
  id: { type: Schema.Types.ObjectId, required: true },
  votes: { type: Number, required: true },
} as const;

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Votes by UTC day of the month, without excluded ones: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
  /** Present while a recount is under way, and after one that died. */
  recount: { type: new Schema(recountDefinition, { _id: false }) },
  /** The newest increments, in their order (see raise-counter.ts). */
  raises: { type: [new Schema(raiseDefinition, { _id: false })], default: undefined },
} as const;

/**
 * How many votes a server had on each day of a month. A cache: the votes are the truth (design rule 8). One
 * document holds a month, so that one increment answers with the whole month's figure.
 */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });
// What the ranking reads.
voteCounterSchema.index({ month: 1 });

export type VoteCounter = Omit<
  InferRawDocType<typeof voteCounterDefinition>,
  'days' | 'recount' | 'raises'
> & {
  days: Record<string, number>;
  raises?: Nested<typeof raiseDefinition>[];
  recount?: Nested<typeof recountDefinition>;
};
