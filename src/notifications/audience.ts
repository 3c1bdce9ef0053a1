import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { Server } from '../servers/server.ts';
import type { NotificationsDeps } from './deps.ts';
import type { DiscordWebhook } from './discord/discord-webhook.ts';
import { type Kind, wantsMailOf } from './kinds.ts';

export type Audience = {
  server: WithId<Server>;
  owner: WithId<User> | null;
  webhook: DiscordWebhook | null;
};

/** Null if there are none, or if the owner is suspended. */
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

export function channelsFor({ owner, webhook }: Audience, kind: Kind): Pick<Audience, 'owner' | 'webhook'> {
  return {
    owner: owner && wantsMailOf(owner, kind) ? owner : null,
    webhook: webhook && !webhook.kindsOff.includes(kind) ? webhook : null,
  };
}
