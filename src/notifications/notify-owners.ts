import type { Collection } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { Listener } from '../listeners/listener.ts';
import { type Outbox, putMail } from '../mail/outbox.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import type { Server } from '../servers/server.ts';
import type { Vote } from '../votes/vote.ts';
import { countDeliveries } from './delivery-counts.ts';
import { type DueNotification, dueNotifications, outageSince } from './due-notifications.ts';
import type { Notification } from './notification.ts';
import { notificationText } from './notification-text.ts';
import type { SentNotifications } from './sent-notifications.ts';

/** What telling owners works on. */
type Notifying = Outbox & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  votes: Collection<Vote>;
  users: Collection<User>;
  sentNotifications: Collection<SentNotifications>;
  config: Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;
  log: Logger;
};

/**
 * Writes the mails that owners are to get of their listeners: paused for a fault of configuration, unreachable
 * for an hour, votes about to be given up, back again. Each notification gives one mail, also when this runs twice
 * at once or is killed half-way: the mail goes into the outbox under an id made of the notification, and only then
 * it is noted as told.
 *
 * @returns how many mails were written
 */
export async function notifyOwners(deps: Notifying, stop: AbortSignal): Promise<number> {
  let written = 0;
  const down = {
    $or: [
      { 'pause.at': { $exists: true } },
      { 'breaker.openSince': { $exists: true } },
      { 'limited.until': { $exists: true } },
    ],
  };
  for await (const listener of deps.listeners.find(down)) {
    if (stop.aborted) return written;
    written += await notifyOf(deps, listener, await deps.sentNotifications.findOne({ _id: listener._id }));
  }
  for await (const told of deps.sentNotifications.find({ since: { $gt: new Date(0) } })) {
    if (stop.aborted) return written;
    const listener = await deps.listeners.findOne({ serverId: told.serverId, _id: told._id });
    // Of a listener that is gone nothing is to be told any more.
    if (!listener) await deps.sentNotifications.deleteOne({ _id: told._id });
    else if (!outageSince(listener)) written += await notifyOf(deps, listener, told);
  }
  return written;
}

/** Tells what is to be told of one listener. One that fails holds up no other. */
async function notifyOf(
  deps: Notifying,
  listener: Listener,
  told: SentNotifications | null,
): Promise<number> {
  try {
    const found = await findOwner(deps, listener);
    if (!found) return 0;
    const { serverId } = listener;
    const oldest = await deps.votes.findOne(
      { serverId, 'delivery.state': 'waiting' },
      { sort: { votedAt: 1 }, projection: { votedAt: 1, 'delivery.expiresAt': 1 } },
    );
    const backAt = told?.since ? await noteStanding(deps, listener, told) : null;
    const seen = {
      listener,
      told: told && { ...told, backAt },
      expiresAt: oldest?.delivery.expiresAt ?? null,
      isDraining: oldest !== null && (!backAt || oldest.votedAt < backAt),
    };
    let written = 0;
    for (const due of dueNotifications(seen, deps.clock.now())) {
      const deliveries = await countDeliveries(deps, serverId, due.since);
      const details = { listener, ...found, deliveries, expiresAt: seen.expiresAt };
      if (await tell(deps, details, due)) written += 1;
      await noteSent(deps, listener, due, told?.since ?? due.since);
    }
    return written;
  } catch (error) {
    deps.log.warn({
      event: 'notifications.failed',
      serverId: listener.serverId.toHexString(),
      reason: String(error),
    });
    return 0;
  }
}

/** The server, and its owner if mail may be sent there. */
async function findOwner({ servers, users }: Notifying, { serverId }: Listener) {
  const server = await servers.findOne({ _id: serverId, removedAt: null });
  if (!server?.ownerId) return null;
  const owner = await users.findOne({ _id: server.ownerId });
  // An address that nobody confirmed may be a stranger's.
  if (!owner?.emailVerified || !owner.wantsMail || owner.suspendedAt) return null;
  return { server, owner };
}

/** Notes since when the listener works again, or that it does not. */
async function noteStanding(
  { sentNotifications, clock }: Notifying,
  listener: Listener,
  { backAt }: SentNotifications,
): Promise<Date | null> {
  const works = outageSince(listener) === null;
  if (works === Boolean(backAt)) return backAt ?? null;
  const noted = works ? clock.now() : null;
  await sentNotifications.updateOne({ _id: listener._id }, { $set: { backAt: noted } });
  return noted;
}

/** Writes one mail, unless it was written before. */
function tell(deps: Notifying, told: Notification, { kind, since }: DueNotification): Promise<boolean> {
  const id = `${kind}:${told.listener._id.toHexString()}:${since.getTime()}`;
  const letter = notificationText(deps.config, told, { kind, since });
  return putMail(deps, { id, to: told.owner.email, ...letter });
}

/** Notes that a notification was sent. `outage`: since when the outage lasts whose end is to be told. */
async function noteSent(
  { sentNotifications, clock }: Notifying,
  { _id, serverId }: Listener,
  { kind, since }: DueNotification,
  outage: Date,
): Promise<void> {
  const now = clock.now();
  if (kind === 'returned') {
    await sentNotifications.updateOne({ _id, since }, { $set: { since: null, backAt: null } });
    return;
  }
  const told = {
    paused: { pauseTold: since, since: outage, backAt: null },
    unreachable: { unreachableTold: since, unreachableMailAt: now, since: outage, backAt: null },
    expiring: { expiringTold: since, expiringMailAt: now },
  }[kind];
  await sentNotifications.updateOne({ _id }, { $set: { serverId, ...told } }, { upsert: true });
}
