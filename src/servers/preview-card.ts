import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const previewCardDefinition = {
  /** The server's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** To the day. A card without requests is deleted. */
  askedAt: { type: Date, required: true },
  /** A hash of everything that the card must show except its figures. */
  key: { type: String, required: true },
  /** Absent if there is nothing to draw. */
  dueAt: { type: Date },
  attempts: { type: Number, required: true },
  /** Until this time of mongod's clock, no other worker may take the card. */
  leaseUntil: { type: Date },
  /** After three failures: the next attempt is after this time. */
  failedUntil: { type: Date },
  /** The newest drawing: the PNG, the key that it was drawn for, and its time. */
  png: { type: Buffer },
  drawnKey: { type: String },
  drawnAt: { type: Date },
} as const;

const STORED_MS = 30 * DAY;

export const previewCardSchema = new Schema(previewCardDefinition, { collection: 'preview_cards' });
previewCardSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
previewCardSchema.index({ askedAt: 1 }, { expireAfterSeconds: STORED_MS / SECOND });

export type PreviewCard = Omit<InferRawDocType<typeof previewCardDefinition>, 'png'> & {
  png?: Buffer | null;
};
