import { Schema } from 'mongoose';

const dailyStatsDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC day, `2026-11-21`. */
  day: { type: String, required: true },
  onlineSeconds: { type: Number, required: true },
  offlineSeconds: { type: Number, required: true },
  /** Sums over time online: divide by `onlineSeconds` (players) or `latencySeconds`. */
  playerSeconds: { type: Number, required: true },
  latencySum: { type: Number, required: true },
  latencySeconds: { type: Number, required: true },
  peakPlayers: { type: Number, required: true },
} as const;

/** A server's day in seconds and sums, computed from its samples and replaced when computed again. */
export const dailyStatsSchema = new Schema(dailyStatsDefinition, { collection: 'daily_stats' });
dailyStatsSchema.index({ serverId: 1, day: 1 }, { unique: true });
