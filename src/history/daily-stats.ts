import type { Binary } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';

const sums = {
  onlineSeconds: { type: Number, required: true },
  offlineSeconds: { type: Number, required: true },
  /** Failed checks that do not count, because each was not yet the third in a row. */
  unconfirmedSeconds: { type: Number, required: true },
  /** Failed checks that do not count, because our canary failed too. */
  canarySeconds: { type: Number, required: true },
  /** Of `onlineSeconds`: the server hid its number of players. Absent if it never did. */
  hiddenSeconds: { type: Number },
  /**
   * Sums over the time online. The average number of players is `playerSeconds` ÷ (`onlineSeconds` − `hiddenSeconds`);
   * the average latency is `latencySum` ÷ `latencySeconds`, in milliseconds.
   */
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
  /** Both sources are stored: most figures use the current one (`sourceAt`), which can change. */
  probes: { type: new Schema(sums, nested), required: true },
  reports: { type: new Schema(sums, nested), required: true },
  /**
   * Only if imported samples that are too old for the time series were added to `probes`: their times in milliseconds
   * since the start of the day, 4 bytes each (see fold-samples.ts).
   */
  foldedMoments: { type: Buffer },
} as const;

/** If a day is computed again, both sums are replaced. */
export const dailyStatsSchema = new Schema(dailyStatsDefinition, { collection: 'daily_stats' });
dailyStatsSchema.index({ serverId: 1, day: 1 }, { unique: true });

export type DailyStats = Omit<InferRawDocType<typeof dailyStatsDefinition>, 'foldedMoments'> & {
  foldedMoments?: Binary;
};
export type DailySums = Nested<typeof sums>;

export function emptySums(): Required<Omit<DailySums, 'hiddenSeconds'>> {
  return {
    onlineSeconds: 0,
    offlineSeconds: 0,
    unconfirmedSeconds: 0,
    canarySeconds: 0,
    playerSeconds: 0,
    latencySum: 0,
    latencySeconds: 0,
    peakPlayers: 0,
  };
}

export function addSums(a: DailySums, b: DailySums): DailySums {
  const names = Object.keys(emptySums()) as (keyof ReturnType<typeof emptySums>)[];
  const added = names.map((name) => [
    name,
    name === 'peakPlayers' ? Math.max(a[name], b[name]) : a[name] + b[name],
  ]);
  const hiddenSeconds = (a.hiddenSeconds ?? 0) + (b.hiddenSeconds ?? 0);
  return { ...Object.fromEntries(added), ...(hiddenSeconds > 0 ? { hiddenSeconds } : {}) };
}
