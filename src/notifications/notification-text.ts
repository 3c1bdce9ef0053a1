import type { User } from '../accounts/user.ts';
import type { Config } from '../platform/config.ts';
import type { Server } from '../servers/server.ts';
import { EVENTS, type EventName, type EventTone } from './kinds.ts';

export type NotificationText = {
  /** A notification with this id is written once for each channel. */
  id: string;
  tone: EventTone;
  /** Follows the server's name and a colon. */
  subject: string;
  /** The last one introduces the link, which is added below it. */
  paragraphs: string[];
  /** A path below the server's dashboard page: `/listener`. */
  part: string;
};

type Site = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;

/** `about` distinguishes events of one name. */
export function eventOf(event: EventName, about: string): Pick<NotificationText, 'id' | 'tone'> {
  return { id: `${event}:${about}`, tone: EVENTS[event].tone };
}

export function dashboardUrl(
  { PUBLIC_URL }: Site,
  server: Pick<Server, '_id'>,
  { part }: NotificationText,
): string {
  return `${PUBLIC_URL}/dashboard/servers/${server._id.toHexString()}${part}`;
}

/** The last line says where users choose the mails that they get. */
export function mailOf(
  site: Site,
  { server, owner }: { server: Pick<Server, '_id' | 'name'>; owner: Pick<User, 'email'> },
  text: NotificationText,
): { to: string; subject: string; text: string } {
  return {
    to: owner.email,
    subject: `${server.name}: ${text.subject}`,
    text: [
      ...text.paragraphs,
      dashboardUrl(site, server, text),
      `-- \n${site.SERVICE_NAME}, ${site.PUBLIC_URL}\nYou get this mail because you own this server. To choose which mails you get: ${site.PUBLIC_URL}/account#notifications`,
    ].join('\n\n'),
  };
}
