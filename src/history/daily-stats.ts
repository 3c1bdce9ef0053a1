import type { Binary } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';

/** One source's day in seconds and sums. */
const sums = {
  onlineSeconds: { type: Number, required: true },
  offlineSeconds: { type: Number, required: true },
  /** Failed checks that did not count: before the third in a row, and while our canary failed. */
  unconfirmedSeconds: { type: Number, required: true },
  canarySeconds: { type: Number, required: true },
  /** Sums over time online: divide by `onlineSeconds` (players) or `latencySeconds`. */
  playerSeconds: { type: Number, required: true },
  latencySum: { type: Number, required: true },
  latencySeconds: { type: Number, required: true },
  peakPlayers: { type: Number, required: true },
} as const;

const nested = { _id: false } as const;

const dailyStatsDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC day, `2026-11-21`. */
  day: { type: String, required: true },
  /** Both sources are kept: which one counts is decided when figures are computed. */
  probes: { type: new Schema(sums, nested), required: true },
  reports: { type: new Schema(sums, nested), required: true },
  /**
   * Only where samples were imported after the time series' own time: the moments whose samples the sums of the
   * probes hold, 4 bytes each (see moving/fold-samples.ts).
   */
  foldedMoments: { type: Buffer },
} as const;

/** A server's day, computed from its samples and replaced when computed again. */
export const dailyStatsSchema = new Schema(dailyStatsDefinition, { collection: 'daily_stats' });
dailyStatsSchema.index({ serverId: 1, day: 1 }, { unique: true });

export type DailyStats = Omit<InferRawDocType<typeof dailyStatsDefinition>, 'foldedMoments'> & {
  foldedMoments?: Binary;
};
export type DailySums = Nested<typeof sums>;
