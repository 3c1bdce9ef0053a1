import type { WithId } from 'mongodb';
import { embedOf, messageOf } from '../../events/discord/discord-embed.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import { dashboardUrl, type NotificationText } from '../notification-text.ts';

export function discordBody(
  config: Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>,
  server: Pick<WithId<Server>, '_id' | 'name'>,
  text: NotificationText,
  at: Date,
): object {
  const url = dashboardUrl(config, server, text);
  return messageOf([embedOf({ ...text, subject: `${server.name}: ${text.subject}`, url, at }, config)]);
}
