import type { ObjectId } from 'mongodb';
import { canBeMailed } from '../accounts/can-be-mailed.ts';
import { inLanguageOfUser } from '../accounts/mail-language.ts';
import type { User } from '../accounts/user.ts';
import { t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import type { Config } from '../platform/config.ts';
import type { Server } from '../servers/server.ts';
import type { EventsDeps } from './deps.ts';
import type { EventText } from './event.ts';
import { dashboardUrl } from './event-text.ts';

/** A mail with this `id` is written once. Whatever kinds of mail the owner chose, unless they switched all mails off. */
export async function mailOwner(
  deps: EventsDeps,
  serverId: ObjectId,
  id: string,
  textAbout: (serverName: string) => EventText,
): Promise<void> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const owner = server?.ownerId ? await deps.users.findOne({ _id: server.ownerId }) : null;
  if (!server || !owner || !canBeMailed(deps.config, owner)) return;
  if (owner.suspendedAt || owner.wantsMail === false) return;
  const text = () => textAbout(server.name);
  await putMail(deps, { id, serverId, ...mailOf(deps.config, { server, owner }, text) });
}

/** In the owner's language. The last line says where users choose the mails that they get. */
export function mailOf(
  site: Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME' | 'DEFAULT_LANGUAGE' | 'LANGUAGES'>,
  { server, owner }: { server: Pick<Server, '_id' | 'name'>; owner: Pick<User, 'email' | 'language'> },
  textOf: () => EventText,
): { to: string; subject: string; text: string } {
  return inLanguageOfUser(site, owner, () => {
    const { subject, paragraphs, part } = textOf();
    const choice = t('You get this mail because you own this server. To choose which mails you get: {page}', {
      page: `${site.PUBLIC_URL}/account#notifications`,
    });
    const foot = `-- \n${site.SERVICE_NAME}, ${site.PUBLIC_URL}\n${choice}`;
    return {
      to: owner.email,
      subject: `${server.name}: ${subject}`,
      text: [...paragraphs, dashboardUrl(site, server._id, part), foot].join('\n\n'),
    };
  });
}
