import { type InferRawDocType, Schema } from 'mongoose';

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Votes by UTC day of the month, without excluded ones: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
  /**
   * Votes by UTC minute (see `minuteOf`), including excluded votes: `{'29640042': 3}`. Only the newest minutes are
   * stored: a recount needs them to know which votes of today are counted already.
   */
  minutes: { type: Schema.Types.Mixed },
  /** Increases with each recount. A recount is repeated if another one has increased it meanwhile. */
  recounts: { type: Number },
  /**
   * What the votes of each UTC day of the month weigh in the ranking: `{'21': DayWeight}`. If the day is over and all
   * its votes count in full, the value is their number. A day that is missing is not weighed yet.
   */
  weighed: { type: Schema.Types.Mixed },
  /** For days that weigh less than their votes: the difference in tenths, `{'21': 4556}`. The ranking subtracts it. */
  less: { type: Schema.Types.Mixed },
  /**
   * For days that weigh less than their votes: how many votes weigh nothing until an operator decides, `{'21': 380}`.
   */
  waiting: { type: Schema.Types.Mixed },
  /**
   * Increases if an operator's decision changes the weights: all days are weighed again, and weights that were computed
   * before the decision are not stored.
   */
  reweighed: { type: Number },
} as const;

/**
 * How many votes a server had on each day of a month. A cache: the votes are the source of truth (design rule 8). One
 * document contains a month, so one read returns the month's figure.
 */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });
// For the ranking, which reads the counters of a month.
voteCounterSchema.index({ month: 1 });

/** What a server's votes of a UTC day weigh in the ranking, and why some weigh less (see ranking/evidence/). */
export type DayWeight = {
  /** The number of counted votes when the day was weighed. If the counter differs, the day is weighed again. */
  of: number;
  /** The weight of all votes together, in tenths of a vote. */
  tenths: number;
  /** Whether the day was over and its statistics were computed. If so, only a recount changes the weight. */
  isFinal: boolean;
  /** The highest number of players that a probe saw; null if probes see no number. */
  players: number | null;
  /** How many votes weigh less because one network cast many. This field and the next three are absent if 0. */
  network?: number;
  /** How many votes of new names weigh less. */
  newcomers?: number;
  /** How many votes of the API weigh less. */
  api?: number;
  /** How many votes weigh nothing until an operator decides. */
  waiting?: number;
};

export type VoteCounter = Omit<
  InferRawDocType<typeof voteCounterDefinition>,
  'days' | 'minutes' | 'weighed' | 'less' | 'waiting'
> & {
  days: Record<string, number>;
  minutes?: Record<string, number>;
  weighed?: Record<string, DayWeight | number>;
  less?: Record<string, number>;
  waiting?: Record<string, number>;
};
