import { t } from '../../language/t.ts';
import { putMail } from '../../mail/outbox.ts';
import type { EventsDeps } from '../deps.ts';
import { type LiveMessage, STOP_TEXTS, type StopReason } from './live-message.ts';

/** Once, whatever kinds of mail the owner chose, unless they switched all mails off. */
export async function mailStopped(
  deps: EventsDeps,
  { _id, serverId, setAt }: LiveMessage,
  reason: StopReason,
): Promise<void> {
  const { config } = deps;
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const owner = server?.ownerId ? await deps.users.findOne({ _id: server.ownerId }) : null;
  // An unconfirmed address may belong to another person.
  const hasMail = config.SMTP_URL !== undefined && owner?.emailVerified && owner.wantsMail !== false;
  if (!server || !owner || !hasMail || owner.suspendedAt) return;
  const { why, advice } = STOP_TEXTS[reason];
  await putMail(deps, {
    id: `live-stopped:${_id.toHexString()}:${setAt.getTime()}`,
    to: owner.email,
    serverId,
    subject: `${server.name}: the live status in Discord stopped`,
    text: [
      `${t(why)} So the message in Discord with the live status of ${server.name} is not updated any more.`,
      `${t(advice)} The settings are here:`,
      `${config.PUBLIC_URL}/dashboard/servers/${serverId.toHexString()}/settings#discord`,
      `-- \n${config.SERVICE_NAME}, ${config.PUBLIC_URL}\nYou get this mail because you own this server. To choose which mails you get: ${config.PUBLIC_URL}/account#notifications`,
    ].join('\n\n'),
  });
}
