import type { Collection } from 'mongodb';
import type { EventsDeps } from '../events/deps.ts';
import type { SentNotifications, ServerNotices } from './sent-notifications.ts';

export type NotificationsDeps = EventsDeps & {
  sentNotifications: Collection<SentNotifications>;
  serverNotices: Collection<ServerNotices>;
};
