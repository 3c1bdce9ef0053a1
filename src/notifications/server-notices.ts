import { type InferRawDocType, Schema } from 'mongoose';

const serverNoticesDefinition = {
  /** The server's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The start of the time offline that the owner was notified of; null after the notification about its end. */
  since: { type: Date, default: null },
  /** When the owner was last notified that the server is offline. */
  offlineToldAt: { type: Date, required: true },
} as const;

/** The notifications that were written about a server's status. A server without any has no document. */
export const serverNoticesSchema = new Schema(serverNoticesDefinition, { collection: 'server_notices' });
serverNoticesSchema.index({ since: 1 });

export type ServerNotices = InferRawDocType<typeof serverNoticesDefinition>;
