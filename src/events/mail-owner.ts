import type { ObjectId } from 'mongodb';
import { putMail } from '../mail/outbox.ts';
import type { EventsDeps } from './deps.ts';

export type OwnerMail = {
  /** A mail with this id is written once. */
  id: string;
  /** Follows the server's name and a colon. */
  subject: string;
  /** The last one introduces the link, which is added below it. */
  paragraphs: string[];
  /** A path below the server's dashboard page. */
  part: string;
};

/** Whatever kinds of mail the owner chose, unless they switched all mails off. */
export async function mailOwner(
  deps: EventsDeps,
  serverId: ObjectId,
  textAbout: (serverName: string) => OwnerMail,
): Promise<void> {
  const { config } = deps;
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const owner = server?.ownerId ? await deps.users.findOne({ _id: server.ownerId }) : null;
  // An unconfirmed address may belong to another person.
  const hasMail = config.SMTP_URL !== undefined && owner?.emailVerified && owner.wantsMail !== false;
  if (!server || !owner || !hasMail || owner.suspendedAt) return;
  const { id, subject, paragraphs, part } = textAbout(server.name);
  await putMail(deps, {
    id,
    to: owner.email,
    serverId,
    subject: `${server.name}: ${subject}`,
    text: [
      ...paragraphs,
      `${config.PUBLIC_URL}/dashboard/servers/${serverId.toHexString()}${part}`,
      `-- \n${config.SERVICE_NAME}, ${config.PUBLIC_URL}\nYou get this mail because you own this server. To choose which mails you get: ${config.PUBLIC_URL}/account#notifications`,
    ].join('\n\n'),
  });
}
