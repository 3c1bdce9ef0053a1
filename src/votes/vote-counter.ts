import { type InferRawDocType, Schema } from 'mongoose';

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC calendar month, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Votes by UTC day of the month, without excluded ones: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
  /**
   * Votes by UTC minute (see `epochMinute`), including excluded votes: `{'29640042': 3}`. Only the newest minutes are
   * stored: from them, a recount knows which votes of today are counted already.
   */
  minutes: { type: Schema.Types.Mixed },
  /** Increases with each recount. If it has increased during a recount: that recount is repeated. */
  recounts: { type: Number },
  /**
   * What the votes of each UTC day weigh in the ranking: `{'21': DayWeight}`. For a finished day on which all votes
   * count in full, the value is their number. A missing day is not weighed yet, or has too few votes to be weighed.
   */
  weighed: { type: Schema.Types.Mixed },
  /** For days that weigh less than their votes: the difference in tenths, `{'21': 4556}`. The ranking subtracts it. */
  less: { type: Schema.Types.Mixed },
  /** For days that weigh less than their votes: how many votes weigh nothing until an operator allows them. */
  waiting: { type: Schema.Types.Mixed },
  /**
   * Increases when an operator's decision changes the weights. All days are then weighed again, and a ranking that read
   * the counter before the decision does not store its weights.
   */
  reweighed: { type: Number },
} as const;

/** How many votes a server had on each day of a month. A cache: the votes are the source of truth (design rule 8). */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });
// For the ranking, which reads all counters of a month.
voteCounterSchema.index({ month: 1 });

/** What a server's votes of a UTC day weigh in the ranking, and why some weigh less (see ranking/evidence/). */
export type DayWeight = {
  /** Counted votes when the day was weighed. If the counter differs, the day is due (`eachDueCounter`). */
  of: number;
  /** The weight of all votes together, in tenths of a vote. */
  tenths: number;
  /** True if the day is over and its statistics are computed: only a recount or an operator changes the weight. */
  isFinal: boolean;
  /** The players for which there was room (`countedPlayers`); null if probes see no number. */
  players: number | null;
  /** The most players that a probe saw on this day and the 30 days before, if that is more than `players`. */
  seen?: number;
  /** How many votes weigh less because one network cast many. This field and the next four are absent if 0. */
  network?: number;
  newcomers?: number;
  api?: number;
  unknown?: number;
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
