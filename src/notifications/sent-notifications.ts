import { type InferRawDocType, Schema } from 'mongoose';

const sentNotificationsDefinition = {
  /** The listener's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The outage of which its owner was told and not yet of its end: since when it lasts. */
  since: { type: Date, default: null },
  /** When its listener was first seen to work again; null while it does not. */
  backAt: { type: Date, default: null },
  /** Of which pause, and of which outage, the owner was told: each by the moment it began. */
  pauseTold: { type: Date, default: null },
  unreachableTold: { type: Date, default: null },
  expiringTold: { type: Date, default: null },
  /** When the last mail of a kind that a flapping listener could repeat was written. */
  unreachableMailAt: { type: Date, default: null },
  expiringMailAt: { type: Date, default: null },
} as const;

/** What the owner of a listener was told of it. Only listeners of which something was told have one. */
export const sentNotificationsSchema = new Schema(sentNotificationsDefinition, {
  collection: 'listener_notices',
});
sentNotificationsSchema.index({ since: 1 });

export type SentNotifications = InferRawDocType<typeof sentNotificationsDefinition>;
