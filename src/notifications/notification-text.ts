import type { ObjectId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { EventText } from '../events/event.ts';
import type { Config } from '../platform/config.ts';
import type { Server } from '../servers/server.ts';
import type { EventName } from './kinds.ts';

/** The last paragraph of a text introduces the link, which is added below it. */
export type Notification = {
  name: EventName;
  /** Distinguishes events of one name. */
  about: string;
  mail: EventText;
  /** For people who get the event; without names of players and the words of a listener, which may have some. */
  text: EventText;
  /** Of the event. */
  data: Record<string, unknown>;
  reviewId?: ObjectId;
};

type Site = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;

function dashboardUrl({ PUBLIC_URL }: Site, server: Pick<Server, '_id'>, { part }: EventText): string {
  return `${PUBLIC_URL}/dashboard/servers/${server._id.toHexString()}${part}`;
}

/** The last line says where users choose the mails that they get. */
export function mailOf(
  site: Site,
  { server, owner }: { server: Pick<Server, '_id' | 'name'>; owner: Pick<User, 'email'> },
  text: EventText,
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
