import { type InferRawDocType, Schema } from 'mongoose';

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Votes by UTC day of the month, without excluded ones: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
  /**
   * The same increments by minute (see `minuteOf`), including excluded votes: `{'29640042': 3}`. Only the newest minutes:
   * a recount needs them to know which votes of today are counted already.
   */
  minutes: { type: Schema.Types.Mixed },
  /** Increases with each recount: of two concurrent recounts, one is repeated. */
  recounts: { type: Number },
} as const;

/**
 * How many votes a server had on each day of a month. A cache: the votes are the source of truth (design rule 8). One
 * document contains a month, so one read returns the month's figure.
 */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });
// The index of the ranking.
voteCounterSchema.index({ month: 1 });

export type VoteCounter = Omit<InferRawDocType<typeof voteCounterDefinition>, 'days' | 'minutes'> & {
  days: Record<string, number>;
  minutes?: Record<string, number>;
};
