import { Schema } from 'mongoose';
import { DAY } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';
import { STATUSES } from '../servers/server.ts';

const statusSampleDefinition = {
  at: { type: Date, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  source: { type: String, enum: ['report', 'probe'] as const, required: true },
  /**
   * 0 for a probe between two scheduled ones (`planOfTake`), and for a report, which is valid up to the next one, at
   * most 15 minutes.
   */
  seconds: { type: Number, required: true },
  /** `unknown`: a failed check that does not count. */
  status: { type: String, enum: STATUSES, required: true },
  /** It is not yet the third in a row, or our canary failed too. */
  reason: { type: String, enum: ['unconfirmed', 'canary'] as const },
  /** Null if the server hides its number of players. */
  onlinePlayers: { type: Number, default: null },
  maxPlayers: { type: Number, required: true },
  latencyMs: { type: Number, default: null },
} as const;

const SAMPLES_TTL_MS = 35 * DAY;
export const SAMPLES_TTL_DAYS = SAMPLES_TTL_MS / DAY;

/** Without the index, a query would read the samples of all servers. */
export const statusSampleSchema = new Schema(statusSampleDefinition, {
  collection: 'status_samples',
  timeseries: { timeField: 'at', metaField: 'serverId', granularity: 'minutes' },
  expireAfterSeconds: SAMPLES_TTL_MS / 1_000,
});
statusSampleSchema.index({ serverId: 1, at: 1 });

export type StatusSample = Nested<typeof statusSampleDefinition>;
