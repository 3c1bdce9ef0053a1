import { type InferRawDocType, Schema } from 'mongoose';
import { type DeliverySums, deliverySums } from '../../delivery/figures/delivery-day.ts';
import type { Nested } from '../../platform/document.ts';

const nested = { _id: false } as const;

const servers = {
  /** At the end of the day; for today, at the time of the count. */
  listed: { type: Number, required: true },
  added: { type: Number, required: true },
  removed: { type: Number, required: true },
} as const;

/** The average over the whole day, and how many servers were online at some time. */
const players = {
  average: { type: Number, required: true },
  servers: { type: Number, required: true },
} as const;

const mails = {
  sent: { type: Number, required: true },
  waiting: { type: Number, required: true },
  givenUp: { type: Number, required: true },
} as const;

const storage = {
  dataBytes: { type: Number, required: true },
  indexBytes: { type: Number, required: true },
  documents: { type: Number, required: true },
} as const;

const siteFiguresDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** UTC: `2026-11-21`. */
  day: { type: String, required: true },
  countedAt: { type: Date, required: true },
  servers: { type: new Schema(servers, nested), required: true },
  /** Absent until the day's samples are summed, and if no server was online. */
  players: { type: new Schema(players, nested) },
  deliveries: { type: new Schema(deliverySums, nested), required: true },
  signUps: { type: Number, required: true },
  /** Absent if the records of the mails were deleted before the day was counted. */
  mails: { type: new Schema(mails, nested) },
  /** Measured at the last count before the day ended, because it cannot be counted later. */
  storage: { type: new Schema(storage, nested) },
  waiting: { type: Schema.Types.Mixed },
  /** The longest time in seconds for which the oldest work of each queue had waited. */
  queues: { type: Schema.Types.Mixed },
  forgetAt: { type: Date, required: true },
} as const;

/** The figures of the whole site on a day; replaced when the day is counted again (design rule 6). */
export const siteFiguresSchema = new Schema(siteFiguresDefinition, { collection: 'site_figures' });
siteFiguresSchema.index({ day: 1 }, { unique: true });
siteFiguresSchema.index({ forgetAt: 1 }, { expireAfterSeconds: 0 });

type Parts = {
  servers: Nested<typeof servers>;
  players?: Nested<typeof players>;
  deliveries: DeliverySums;
  mails?: Nested<typeof mails>;
  storage?: Nested<typeof storage>;
  waiting?: Record<string, number>;
  queues?: Record<string, number>;
};

export type SiteFigures = Omit<InferRawDocType<typeof siteFiguresDefinition>, keyof Parts> & Parts;

/** Two years and some days. */
export const SITE_FIGURE_DAYS = 740;
