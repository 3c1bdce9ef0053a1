import { type InferRawDocType, Schema } from 'mongoose';

const voteCounterDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** UTC, `2026-11`. */
  month: { type: String, required: true, match: /^\d{4}-\d{2}$/ },
  /** Without excluded votes: `{'01': 12, '21': 3}`. */
  days: { type: Schema.Types.Mixed, required: true },
  /** By `epochMinute`, with excluded votes: `{'29640042': 3}`. Only the newest: a recount knows what is counted. */
  minutes: { type: Schema.Types.Mixed },
  /** If it has increased during a recount, that one is repeated. */
  recounts: { type: Number },
  /** In the ranking, `{'21': DayWeight}`; a number if all count in full. Days with too few votes are missing. */
  weighed: { type: Schema.Types.Mixed },
  /** Of days that weigh less: by how many tenths, `{'21': 4556}`. The ranking subtracts it. */
  less: { type: Schema.Types.Mixed },
  /** Votes that weigh nothing until an operator allows them. */
  waiting: { type: Schema.Types.Mixed },
  /**
   * An operator's decision weighs all days again; a ranking that read the counter before does not store its weights.
   */
  reweighed: { type: Number },
} as const;

/** A cache: the votes are the source of truth (design rule 8). */
export const voteCounterSchema = new Schema(voteCounterDefinition, { collection: 'vote_counters' });
voteCounterSchema.index({ serverId: 1, month: 1 }, { unique: true });
// For the ranking, which reads all counters of a month.
voteCounterSchema.index({ month: 1 });

/** In the ranking, and why some votes weigh less (see ranking/evidence/). */
export type DayWeight = {
  /** If the counter differs, the day is due (`eachDueCounter`). */
  of: number;
  /** The weight of these votes together, in tenths of a vote. */
  tenths: number;
  /** The day is over and has its statistics: only a recount or an operator changes the weight. */
  isFinal: boolean;
  /** For whom there was room (`countedPlayers`); null if probes see no number. */
  players: number | null;
  /** What a probe saw in 31 days, if that is more than `players`. */
  seen?: number;
  /** Votes that weigh less because one network cast many. Like the next four absent if 0. */
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
