import { type InferRawDocType, Schema } from 'mongoose';

const periodMarkDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The periodic work: `clean-up`. */
  work: { type: String, required: true },
  /** A UTC day: `2026-11-21`. */
  period: { type: String, required: true },
  doneAt: { type: Date, required: true },
} as const;

/** The periods whose work is done (design rule 6). */
export const periodMarkSchema = new Schema(periodMarkDefinition, { collection: 'period_marks' });
periodMarkSchema.index({ work: 1, period: 1 }, { unique: true });

export type PeriodMark = InferRawDocType<typeof periodMarkDefinition>;
