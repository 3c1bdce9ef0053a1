import { type InferRawDocType, Schema } from 'mongoose';

const toldDefinition = {
  /** The start of the outage of the channel's last notification; null after the one about its end. */
  since: { type: Date, default: null },
  backAt: { type: Date, default: null },
  /** The start of the pause, the outage or the wait that the last notification was about. */
  pauseTold: { type: Date, default: null },
  unreachableTold: { type: Date, default: null },
  unfetchedTold: { type: Date, default: null },
  expiringTold: { type: Date, default: null },
  /** Of mails: when written, for events that a listener could cause again and again. */
  unreachableMailAt: { type: Date, default: null },
  unfetchedMailAt: { type: Date, default: null },
  expiringMailAt: { type: Date, default: null },
} as const;

const sentNotificationsDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** By mail. */
  ...toldDefinition,
  /** To subscriptions. */
  events: { type: new Schema(toldDefinition, { _id: false }) },
} as const;

/** A listener without notifications has no document. */
export const sentNotificationsSchema = new Schema(sentNotificationsDefinition, {
  collection: 'listener_notices',
});
sentNotificationsSchema.index({ since: 1 });
sentNotificationsSchema.index({ 'events.since': 1 });

export type SentNotifications = InferRawDocType<typeof sentNotificationsDefinition>;
/** The last notifications of one channel about a listener. */
export type Told = Partial<InferRawDocType<typeof toldDefinition>>;

const serverNoticesDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The start of the time offline that the owner got a mail about; null after the mail about its end. */
  since: { type: Date, default: null },
  offlineToldAt: { type: Date },
  /** As `since`, of the events for subscriptions. */
  eventSince: { type: Date, default: null },
} as const;

export const serverNoticesSchema = new Schema(serverNoticesDefinition, { collection: 'server_notices' });
serverNoticesSchema.index({ since: 1 });
serverNoticesSchema.index({ eventSince: 1 });

export type ServerNotices = InferRawDocType<typeof serverNoticesDefinition>;
