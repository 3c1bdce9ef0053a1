import { type InferRawDocType, Schema } from 'mongoose';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Nested } from '../../platform/document.ts';
import type { ArrivalTimes } from './arrival-times.ts';

/** The votes of a UTC day, by how they were cast and by the state of their delivery. Imported votes are not counted. */
export const deliverySums = {
  /** On a page, or with the API. Excluded votes are in neither. */
  page: { type: Number, required: true },
  api: { type: Number, required: true },
  excluded: { type: Number, required: true },
  /** In a quarantine; `excluded` counts them too. */
  held: { type: Number, required: true },
  // The next five count all votes by state and arrival (`countedAs`), excluded ones too.
  notForwarded: { type: Number, required: true },
  waiting: { type: Number, required: true },
  delivered: { type: Number, required: true },
  unconfirmed: { type: Number, required: true },
  failed: { type: Number, required: true },
  /** `ArrivalTimes` of the delivered votes that waited for no person. */
  times: { type: Schema.Types.Mixed, required: true },
  /** Attempts that failed, by outcome: `{'connection-refused': 12}`. */
  causes: { type: Schema.Types.Mixed, required: true },
} as const;

const deliveryDayDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The UTC day on which they were cast, `2026-11-21`. */
  day: { type: String, required: true },
  ...deliverySums,
  countedAt: { type: Date, required: true },
  forgetAt: { type: Date, required: true },
} as const;

/** Replaced when the day is counted again (design rule 6). */
export const deliveryDaySchema = new Schema(deliveryDayDefinition, { collection: 'delivery_days' });
deliveryDaySchema.index({ serverId: 1, day: 1 }, { unique: true });
deliveryDaySchema.index({ forgetAt: 1 }, { expireAfterSeconds: 0 });

type Mixed = { times: ArrivalTimes; causes: Partial<Record<OutcomeCode, number>> };

export type DeliverySums = Omit<Nested<typeof deliverySums>, keyof Mixed> & Mixed;
export type DeliveryDay = Omit<InferRawDocType<typeof deliveryDayDefinition>, keyof Mixed> & Mixed;

export const FIGURE_DAYS = 100;
