import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { Server } from '../servers/server.ts';
import type { NotificationsDeps } from './deps.ts';
import type { DiscordWebhook } from './discord/discord-webhook.ts';
import { type Kind, wantsMailOf } from './kinds.ts';

/** The recipients of notifications about a server. */
export type Audience = {
  server: WithId<Server>;
  /** The owner, if mail may be sent to them. */
  owner: WithId<User> | null;
  /** The server's webhook, if it is on. */
  webhook: DiscordWebhook | null;
};

/** Finds the recipients of notifications about a server. Null if there are none, or if the owner is suspended. */
export async function audienceOf(deps: NotificationsDeps, serverId: ObjectId): Promise<Audience | null> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!server) return null;
  const [owner, webhook] = await Promise.all([
    server.ownerId ? deps.users.findOne({ _id: server.ownerId }) : null,
    deps.discordWebhooks.findOne({ _id: serverId, off: null }),
  ]);
  if (owner?.suspendedAt) return null;
  // An unconfirmed address may belong to another person.
  const hasMail = deps.config.SMTP_URL !== undefined && owner?.emailVerified;
  const audience = { server, owner: hasMail ? owner : null, webhook };
  return audience.owner || audience.webhook ? audience : null;
}

/** The recipients that want notifications of a kind. */
export function channelsFor({ owner, webhook }: Audience, kind: Kind): Pick<Audience, 'owner' | 'webhook'> {
  return {
    owner: owner && wantsMailOf(owner, kind) ? owner : null,
    webhook: webhook && !webhook.kindsOff.includes(kind) ? webhook : null,
  };
}
