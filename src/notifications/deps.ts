import type { Collection } from 'mongodb';
import type { HistoryDeps } from '../history/deps.ts';
import type { ReviewsDeps } from '../reviews/deps.ts';
import type { DiscordWebhook } from './discord/discord-webhook.ts';
import type { SentNotifications, ServerNotices } from './sent-notifications.ts';

export type NotificationsDeps = HistoryDeps &
  ReviewsDeps & {
    discordWebhooks: Collection<DiscordWebhook>;
    sentNotifications: Collection<SentNotifications>;
    serverNotices: Collection<ServerNotices>;
  };
