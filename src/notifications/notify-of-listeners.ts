import type { Filter, ObjectId } from 'mongodb';
import { serversWith } from '../delivery/drain/lost-attempts.ts';
import { fetchingWithOpenVotes } from '../delivery/fetch/fetching-listener.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { isForgotten } from '../listeners/listener-state.ts';
import { after } from '../platform/clock.ts';
import { BY_STATE, OPEN_WORK, type Vote } from '../votes/vote.ts';
import { audienceOf } from './audience.ts';
import { countDelayedVotes } from './delivery-counts.ts';
import type { NotificationsDeps } from './deps.ts';
import {
  type DueNotification,
  dueNotifications,
  EXPIRING_MS,
  outageSince,
  unfetchedSince,
} from './due-notifications.ts';
import { EVENTS } from './kinds.ts';
import { listenerNotificationText } from './listener-text.ts';
import { forServer, notify } from './notify.ts';
import type { SentNotifications } from './sent-notifications.ts';

/** Each notification is written first and recorded as sent afterwards. Returns how many were written. */
export async function notifyOfListeners(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  let written = 0;
  const down = {
    $or: [
      { 'pause.at': { $exists: true } },
      { 'breaker.openSince': { $exists: true } },
      { 'limited.until': { $exists: true } },
    ],
  };
  for (const found of [deps.listeners.find(down), unfetchedOrLate(deps)]) {
    for await (const listener of found) {
      if (stop.aborted) return written;
      const sent = await deps.sentNotifications.findOne({ _id: listener._id });
      written += await forServer(deps, listener.serverId, () => notifyOf(deps, listener, sent));
    }
  }
  for await (const sent of deps.sentNotifications.find({ since: { $gt: new Date(0) } })) {
    if (stop.aborted) return written;
    const listener = await deps.listeners.findOne({ serverId: sent.serverId, _id: sent._id });
    if (!listener) await deps.sentNotifications.deleteOne({ _id: sent._id });
    else if (!outageSince(listener))
      written += await forServer(deps, listener.serverId, () => notifyOf(deps, listener, sent));
  }
  return written;
}

type WaitingVote = { delivery: Vote['delivery'] & { expiresAt: Date } };

const ENDS: ReadonlySet<DueNotification['kind']> = new Set(['returned', 'fetched-again']);

async function notifyOf(
  deps: NotificationsDeps,
  listener: Listener,
  sent: SentNotifications | null,
): Promise<number> {
  const { serverId } = listener;
  const audience = await audienceOf(deps, serverId);
  if (!audience) return 0;
  const first = await firstToExpire(deps, serverId);
  const expiresAt = first?.delivery.expiresAt ?? null;
  const queuedAt = expiresAt && after(expiresAt, -DELIVERY_EXPIRES_MS);
  const works = !outageSince(listener) && !unfetchedSince(listener, queuedAt, deps.clock.now());
  const backAt = sent?.since ? await recordReturn(deps, listener, sent, works) : null;
  const state = {
    listener,
    sent: sent && { ...sent, backAt },
    queuedAt,
    expiresAt,
    isDraining: queuedAt !== null && (!backAt || queuedAt < backAt),
  };
  let written = 0;
  for (const due of dueNotifications(state, deps.clock.now())) {
    const deliveries = await countDelayedVotes(deps, serverId, due.kind === 'returned' ? due.since : null);
    const lastAttempt = first?.delivery.attempts.at(-1) ?? null;
    const details = { listener, server: audience.server, deliveries, expiresAt, lastAttempt };
    const text = listenerNotificationText(details, due);
    const result = await notify(deps, audience, EVENTS[due.kind].kind, text);
    if (result === 'written') written += 1;
    // If nobody was notified of an outage, nobody is notified of its end either.
    if (result === 'unwanted' && !ENDS.has(due.kind)) continue;
    await recordSent(deps, listener, due, sent?.since ?? due.since);
  }
  return written;
}

/** The waiting vote that expires first, which is also the first one that was queued. */
function firstToExpire({ votes }: NotificationsDeps, serverId: ObjectId): Promise<WaitingVote | null> {
  return votes.findOne<WaitingVote>(
    { serverId, 'delivery.queuedAt': { $gt: new Date(0) }, 'delivery.state': 'waiting' },
    {
      sort: { 'delivery.queuedAt': 1 },
      hint: OPEN_WORK,
      projection: { 'delivery.expiresAt': 1, 'delivery.attempts': { $slice: -1 } },
    },
  );
}

/** Null while the listener does not work. */
async function recordReturn(
  { sentNotifications, clock }: NotificationsDeps,
  listener: Listener,
  { backAt }: SentNotifications,
  works: boolean,
): Promise<Date | null> {
  if (works === Boolean(backAt)) return backAt ?? null;
  const returnedAt = works ? clock.now() : null;
  await sentNotifications.updateOne({ _id: listener._id }, { $set: { backAt: returnedAt } });
  return returnedAt;
}

/** `outage`: its start, for the notification about its end. */
async function recordSent(
  { sentNotifications, clock }: NotificationsDeps,
  { _id, serverId }: Listener,
  { kind, since }: DueNotification,
  outage: Date,
): Promise<void> {
  const now = clock.now();
  if (kind === 'returned' || kind === 'fetched-again') {
    await sentNotifications.updateOne({ _id, since }, { $set: { since: null, backAt: null } });
    return;
  }
  const fields = {
    paused: { pauseTold: since, since: outage, backAt: null },
    unreachable: { unreachableTold: since, unreachableMailAt: now, since: outage, backAt: null },
    unfetched: { unfetchedTold: since, unfetchedMailAt: now, since, backAt: null },
    expiring: { expiringTold: since, expiringMailAt: now },
  }[kind];
  await sentNotifications.updateOne({ _id }, { $set: { serverId, ...fields } }, { upsert: true });
}

const LATE_MS = DELIVERY_EXPIRES_MS - EXPIRING_MS;

/**
 * Of listeners that fetch and are not paused: votes have been open for 10 minutes and nobody has fetched meanwhile, or
 * a waiting vote was cast 48 hours ago or earlier. Costs as much as {@link fetchingWithOpenVotes}, and one seek in an
 * index for each listener that fetched in the last 10 minutes.
 */
async function* unfetchedOrLate(deps: NotificationsDeps): AsyncGenerator<Listener> {
  const now = deps.clock.now();
  for await (const some of fetchingWithOpenVotes(deps)) {
    const active = some.filter(({ pause }) => !pause);
    const fetched = active.filter((listener) => !isForgotten(listener, now));
    const serverIds = fetched.map(({ serverId }) => serverId);
    const late =
      serverIds.length > 0 ? await serversWith(deps.votes, serverIds, lateVotes(now), BY_STATE) : new Set();
    yield* active.filter(
      (listener) => isForgotten(listener, now) || late.has(listener.serverId.toHexString()),
    );
  }
}

/** All votes that are about to expire are among them. A vote that was resent may expire later. */
export function lateVotes(now: Date): Filter<Vote> {
  return { 'delivery.state': 'waiting', votedAt: { $lte: after(now, -LATE_MS) } };
}
