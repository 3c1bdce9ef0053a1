import { type InferRawDocType, Schema } from 'mongoose';

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Votes by UTC day of the month: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
} as const;

/**
 * How many votes a server had on each day of a month. A cache: the votes are the truth (design rule 8). One
 * document holds a month, so that one increment answers with the whole month's figure.
 */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });

export type VoteCounter = Omit<InferRawDocType<typeof voteCounterDefinition>, 'days'> & {
  days: Record<string, number>;
};
