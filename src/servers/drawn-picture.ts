import type { ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

const definition = {
  /** To the day or hour. A picture without requests is deleted. */
  askedAt: { type: Date, required: true },
  /** A hash of everything that the picture must show except its figures. */
  key: { type: String, required: true },
  /** Absent if there is nothing to draw. */
  dueAt: { type: Date },
  attempts: { type: Number, required: true },
  /** Until this time of mongod's clock, no other worker may take the picture. */
  leaseUntil: { type: Date },
  /** After three failures: the next attempt is after this time. */
  failedUntil: { type: Date },
  /** The newest drawing: the PNG, the key that it was drawn for, and its time. */
  png: { type: Buffer },
  drawnKey: { type: String },
  drawnAt: { type: Date },
} as const;

/** `_id`: of a preview, the server's id; of a banner, see `bannerId`. */
export type DrawnPicture = Omit<InferRawDocType<typeof definition>, '_id' | 'png'> & {
  _id: ObjectId | string;
  png?: Buffer | null;
};

function drawnPictureSchema(
  collection: string,
  id: typeof Schema.Types.ObjectId | typeof String,
  ms: number,
) {
  const schema = new Schema({ _id: { type: id, required: true }, ...definition }, { collection });
  schema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
  schema.index({ askedAt: 1 }, { expireAfterSeconds: ms / SECOND });
  return schema;
}

export const previewCardSchema = drawnPictureSchema('preview_cards', Schema.Types.ObjectId, 30 * DAY);
export const bannerPictureSchema = drawnPictureSchema('banner_pictures', String, 7 * DAY);
