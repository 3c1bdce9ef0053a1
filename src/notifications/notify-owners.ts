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

/** The dependencies of notifications. */
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
 * Writes the mails to owners about their listeners: paused for a configuration error, unreachable for an hour,
 * votes about to expire, working again. Each notification gives one mail, also after concurrent or interrupted runs:
 * the mail enters the outbox under an id made of the notification, and is recorded as sent afterwards.
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
  for await (const sent of deps.sentNotifications.find({ since: { $gt: new Date(0) } })) {
    if (stop.aborted) return written;
    const listener = await deps.listeners.findOne({ serverId: sent.serverId, _id: sent._id });
    // A deleted listener gives no more notifications.
    if (!listener) await deps.sentNotifications.deleteOne({ _id: sent._id });
    else if (!outageSince(listener)) written += await notifyOf(deps, listener, sent);
  }
  return written;
}

/** Writes the due mails of one listener. An error is logged and does not stop the others. */
async function notifyOf(
  deps: Notifying,
  listener: Listener,
  sent: SentNotifications | null,
): Promise<number> {
  try {
    const found = await findOwner(deps, listener);
    if (!found) return 0;
    const { serverId } = listener;
    const oldest = await deps.votes.findOne(
      { serverId, 'delivery.state': 'waiting' },
      { sort: { votedAt: 1 }, projection: { votedAt: 1, 'delivery.expiresAt': 1 } },
    );
    const backAt = sent?.since ? await recordReturn(deps, listener, sent) : null;
    const state = {
      listener,
      sent: sent && { ...sent, backAt },
      expiresAt: oldest?.delivery.expiresAt ?? null,
      isDraining: oldest !== null && (!backAt || oldest.votedAt < backAt),
    };
    let written = 0;
    for (const due of dueNotifications(state, deps.clock.now())) {
      const deliveries = await countDeliveries(deps, serverId, due.since);
      const details = { listener, ...found, deliveries, expiresAt: state.expiresAt };
      if (await writeMail(deps, details, due)) written += 1;
      await recordSent(deps, listener, due, sent?.since ?? due.since);
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

/** The server and its owner; null if the owner may get no mail. */
async function findOwner({ servers, users }: Notifying, { serverId }: Listener) {
  const server = await servers.findOne({ _id: serverId, removedAt: null });
  if (!server?.ownerId) return null;
  const owner = await users.findOne({ _id: server.ownerId });
  // An unconfirmed address may belong to another person.
  if (!owner?.emailVerified || !owner.wantsMail || owner.suspendedAt) return null;
  return { server, owner };
}

/** Records when the listener started to work again; null while it does not work. */
async function recordReturn(
  { sentNotifications, clock }: Notifying,
  listener: Listener,
  { backAt }: SentNotifications,
): Promise<Date | null> {
  const works = outageSince(listener) === null;
  if (works === Boolean(backAt)) return backAt ?? null;
  const returnedAt = works ? clock.now() : null;
  await sentNotifications.updateOne({ _id: listener._id }, { $set: { backAt: returnedAt } });
  return returnedAt;
}

/** Writes one mail, unless it was written before. */
function writeMail(
  deps: Notifying,
  notification: Notification,
  { kind, since }: DueNotification,
): Promise<boolean> {
  const id = `${kind}:${notification.listener._id.toHexString()}:${since.getTime()}`;
  const letter = notificationText(deps.config, notification, { kind, since });
  return putMail(deps, { id, to: notification.owner.email, ...letter });
}

/** Records that a notification was sent. `outage`: the start of the outage, for the mail about its end. */
async function recordSent(
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
  const fields = {
    paused: { pauseTold: since, since: outage, backAt: null },
    unreachable: { unreachableTold: since, unreachableMailAt: now, since: outage, backAt: null },
    expiring: { expiringTold: since, expiringMailAt: now },
  }[kind];
  await sentNotifications.updateOne({ _id }, { $set: { serverId, ...fields } }, { upsert: true });
}
