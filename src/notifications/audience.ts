import type { ObjectId, WithId } from 'mongodb';
import { canBeMailed } from '../accounts/can-be-mailed.ts';
import type { User } from '../accounts/user.ts';
import { type EventKind, kindOfType } from '../events/kinds.ts';
import { wantedKinds } from '../events/store-events.ts';
import type { Server } from '../servers/server.ts';
import type { NotificationsDeps } from './deps.ts';
import { EVENTS, type EventName, wantsMailOf } from './kinds.ts';

/** A mail to the owner; an event for the subscriptions. */
export const CHANNELS = ['mail', 'events'] as const;
export type Channel = (typeof CHANNELS)[number];

export type Audience = {
  server: WithId<Server>;
  /** Null if mails cannot reach them. */
  owner: WithId<User> | null;
  /** By subscriptions. */
  wanted: ReadonlySet<EventKind>;
};

/** Null if there are none, or if the owner is suspended. */
export async function audienceOf(deps: NotificationsDeps, serverId: ObjectId): Promise<Audience | null> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!server) return null;
  const [owner, wanted] = await Promise.all([
    server.ownerId ? deps.users.findOne({ _id: server.ownerId }) : null,
    wantedKinds(deps, serverId),
  ]);
  if (owner?.suspendedAt) return null;
  const audience = { server, owner: owner && canBeMailed(deps.config, owner) ? owner : null, wanted };
  return audience.owner || wanted.size > 0 ? audience : null;
}

export function isWanted({ owner, wanted }: Audience, channel: Channel, event: EventName): boolean {
  const { kind, type } = EVENTS[event];
  return channel === 'mail' ? owner !== null && wantsMailOf(owner, kind) : wanted.has(kindOfType(type));
}
