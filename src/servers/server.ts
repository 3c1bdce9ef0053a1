import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../document.ts';

/** What a server last said of itself, by a report or a probe. Players are counts of people. */
const currentFigures = {
  status: { type: String, enum: ['online', 'offline', 'unknown'] as const, required: true },
  onlinePlayers: { type: Number, required: true, default: 0 },
  maxPlayers: { type: Number, required: true, default: 0 },
  latencyMs: { type: Number, default: null },
  motd: { type: String, required: true, default: '' },
  version: { type: String, required: true, default: '' },
  /** The newest probe, failed ones too, or report. */
  checkedAt: { type: Date, default: null },
} as const;

/** The newest report: its time opens the next window, its id tells a resent update from another one. */
const lastReport = {
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
} as const;

/** Figures computed once a day from the history (design, "Periods and figures"). */
const dailyFigures = {
  averagePlayers: { type: Number, required: true, default: 0 },
  peakPlayers: { type: Number, required: true, default: 0 },
  averageLatency: { type: Number, default: null },
  uptimePercentage: { type: Number, default: null },
} as const;

const nested = { _id: false } as const;

const serverDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true, trim: true, minlength: 1, maxlength: 100 },
  slug: { type: String, required: true, match: /^[a-z0-9]+(-[a-z0-9]+)*$/ },
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  queryPort: { type: Number, default: null, min: 1, max: 65_535 },
  game: { type: String, default: null, maxlength: 50 },
  countryCode: { type: String, default: null, match: /^[A-Z]{2}$/ },
  isPremium: { type: Boolean, required: true, default: false },
  listedAt: { type: Date, required: true },
  removedAt: { type: Date, default: null },
  rankPosition: { type: Number, required: true, min: 1 },
  current: { type: new Schema(currentFigures, nested), required: true },
  daily: { type: new Schema(dailyFigures, nested), required: true },
  lastReport: { type: new Schema(lastReport, nested), default: null },
} as const;

/** A listed game server. Removal is soft: `_id` and `slug` are never used again. */
export const serverSchema = new Schema(serverDefinition, { collection: 'servers' });
serverSchema.index({ slug: 1 }, { unique: true });
serverSchema.index({ rankPosition: 1 });

export type Server = InferRawDocType<typeof serverDefinition>;
export type CurrentFigures = Nested<typeof currentFigures>;
