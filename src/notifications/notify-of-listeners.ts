import type { Filter, ObjectId } from 'mongodb';
import { serversWith } from '../delivery/drain/lost-attempts.ts';
import { fetchingWithOpenVotes } from '../delivery/fetch/fetching-listener.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { isForgotten } from '../listeners/listener-state.ts';
import { after } from '../platform/clock.ts';
import { BY_STATE, OPEN_WORK, type Vote } from '../votes/vote.ts';
import { audienceOf, CHANNELS, type Channel, isWanted } from './audience.ts';
import { countDelayedVotes } from './delivery-counts.ts';
import type { NotificationsDeps } from './deps.ts';
import {
  type DueNotification,
  dueNotifications,
  EXPIRING_MS,
  outageSince,
  unfetchedSince,
} from './due-notifications.ts';
import { listenerNotification } from './listener-text.ts';
import { forServer, notifyBy } from './notify.ts';
import type { SentNotifications, Told } from './sent-notifications.ts';

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
  const told = { $gt: new Date(0) };
  const outages = deps.sentNotifications.find({ $or: [{ since: told }, { 'events.since': told }] });
  for await (const sent of outages) {
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
  const due: { channel: Channel; told: Told | null; due: DueNotification }[] = [];
  for (const channel of CHANNELS) {
    const told = sent && (channel === 'mail' ? sent : (sent.events ?? null));
    const backAt = told?.since ? await recordReturn(deps, listener, channel, told, works) : null;
    const isDraining = queuedAt !== null && (!backAt || queuedAt < backAt);
    const state = { listener, sent: told && { ...told, backAt }, queuedAt, expiresAt, isDraining };
    for (const one of dueNotifications(state, deps.clock.now())) due.push({ channel, told, due: one });
  }
  let written = 0;
  for (const { channel, told, due: one } of due) {
    const wanted = isWanted(audience, channel, one.kind);
    // If nobody was notified of an outage, nobody is notified of its end either.
    if (!wanted && !ENDS.has(one.kind)) continue;
    if (wanted) {
      const deliveries = await countDelayedVotes(deps, serverId, one.kind === 'returned' ? one.since : null);
      const lastAttempt = first?.delivery.attempts.at(-1) ?? null;
      const state = { listener, server: audience.server, deliveries, expiresAt, lastAttempt };
      if (await notifyBy(channel, deps, audience, listenerNotification(state, one))) written += 1;
    }
    await recordSent(deps, listener, channel, one, told?.since ?? one.since);
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

/** Where it is stored what a channel told. */
function toldIn(channel: Channel, fields: Told): Record<string, unknown> {
  const prefix = channel === 'mail' ? '' : 'events.';
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]));
}

/** Null while the listener does not work. */
async function recordReturn(
  { sentNotifications, clock }: NotificationsDeps,
  listener: Listener,
  channel: Channel,
  { backAt }: Told,
  works: boolean,
): Promise<Date | null> {
  if (works === Boolean(backAt)) return backAt ?? null;
  const returnedAt = works ? clock.now() : null;
  await sentNotifications.updateOne({ _id: listener._id }, { $set: toldIn(channel, { backAt: returnedAt }) });
  return returnedAt;
}

/** `outage`: its start, for the notification about its end. Subscriptions are told each time, so no time is stored. */
async function recordSent(
  { sentNotifications, clock }: NotificationsDeps,
  { _id, serverId }: Listener,
  channel: Channel,
  { kind, since }: DueNotification,
  outage: Date,
): Promise<void> {
  if (kind === 'returned' || kind === 'fetched-again') {
    await sentNotifications.updateOne(
      { _id, ...toldIn(channel, { since }) },
      { $set: toldIn(channel, { since: null, backAt: null }) },
    );
    return;
  }
  const mailedAt = channel === 'mail' ? clock.now() : null;
  const fields: Told = {
    paused: { pauseTold: since, since: outage, backAt: null },
    unreachable: { unreachableTold: since, unreachableMailAt: mailedAt, since: outage, backAt: null },
    unfetched: { unfetchedTold: since, unfetchedMailAt: mailedAt, since, backAt: null },
    expiring: { expiringTold: since, expiringMailAt: mailedAt },
  }[kind];
  await sentNotifications.updateOne(
    { _id },
    { $set: { serverId, ...toldIn(channel, fields) } },
    { upsert: true },
  );
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
