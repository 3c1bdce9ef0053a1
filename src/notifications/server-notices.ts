import { type InferRawDocType, Schema } from 'mongoose';

const serverNoticesDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The start of the time offline that the owner was notified of; null after the notification about its end. */
  since: { type: Date, default: null },
  offlineToldAt: { type: Date, required: true },
} as const;

/** A server without notifications has no document. */
export const serverNoticesSchema = new Schema(serverNoticesDefinition, { collection: 'server_notices' });
serverNoticesSchema.index({ since: 1 });

export type ServerNotices = InferRawDocType<typeof serverNoticesDefinition>;
