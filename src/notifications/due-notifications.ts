import type { Listener } from '../listeners/listener.ts';
import { isNeglected, lastCalled } from '../listeners/listener-state.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import type { Told } from './sent-notifications.ts';

/** The owner is not notified earlier: restarts and short outages take less time. */
const UNREACHABLE_FOR_MS = HOUR;

/** So long before votes expire, the owner is notified. */
export const EXPIRING_MS = 24 * HOUR;

/** Of mails: of `unreachable`, `unfetched` and `expiring`, for one listener. */
const AT_MOST_EVERY_MS = DAY;

/** `returned` waits until the delayed votes are delivered or failed, but not longer than this. */
const SETTLED_MS = HOUR;

export type DueNotification = {
  kind: 'paused' | 'unreachable' | 'unfetched' | 'expiring' | 'returned' | 'fetched-again';
  /** The start of the outage or, without one, of the wait. It identifies the notification, with the kind. */
  since: Date;
};

export type NotifiedListener = {
  listener: Pick<
    Listener,
    | '_id'
    | 'serverId'
    | 'protocol'
    | 'pause'
    | 'breaker'
    | 'limited'
    | 'lastDeliveredAt'
    | 'fetched'
    | 'updatedAt'
  >;
  sent: Told | null;
  /** When the first of the waiting votes was cast or, if that is later, resent or released; null if none waits. */
  queuedAt: Date | null;
  expiresAt: Date | null;
  /** Votes that were queued before the listener came back are still waiting. */
  isDraining: boolean;
};

export function outageSince({ pause, breaker }: Pick<Listener, 'pause' | 'breaker'>): Date | null {
  return pause?.at ?? breaker.openSince ?? null;
}

/**
 * The last take, or the last change of the settings if that is later. Null if that was in the last 10 minutes, or if no
 * vote has waited for so long.
 */
export function unfetchedSince(
  listener: Pick<Listener, 'protocol' | 'pause' | 'fetched' | 'updatedAt'>,
  queuedAt: Date | null,
  now: Date,
): Date | null {
  return isNeglected(listener, queuedAt, now) ? lastCalled(listener) : null;
}

/**
 * Of one channel. Only the current state counts: if an outage began and ended while no worker ran, there is no notification about it.
 */
export function dueNotifications(
  { listener, sent, queuedAt, expiresAt, isDraining }: NotifiedListener,
  now: Date,
): DueNotification[] {
  const { pause, breaker, limited } = listener;
  const unfetched = unfetchedSince(listener, queuedAt, now);
  if (unfetched) {
    const isDue = mayNotify(sent?.unfetchedTold, sent?.unfetchedMailAt, unfetched, now);
    return [
      ...(isDue ? [{ kind: 'unfetched', since: unfetched } as const] : []),
      ...expiringNotifications({ sent, expiresAt }, unfetched, now),
    ];
  }
  const since = outageSince(listener);
  if (!since) {
    // Votes may wait without an outage: for the connection limit, or because they are fetched but not accepted.
    const waiting = limited || listener.protocol === 'fetch' ? queuedAt : null;
    return [
      ...returnNotifications({ listener, sent, isDraining }, now),
      ...expiringNotifications({ sent, expiresAt }, waiting, now),
    ];
  }
  const found: DueNotification[] = [];
  if (pause?.by === 'tallyport' && !isSame(sent?.pauseTold, pause.at)) {
    found.push({ kind: 'paused', since: pause.at });
  }
  const unreachable = !pause && breaker.openSince ? breaker.openSince : null;
  if (
    unreachable &&
    now >= after(unreachable, UNREACHABLE_FOR_MS) &&
    mayNotify(sent?.unreachableTold, sent?.unreachableMailAt, unreachable, now)
  ) {
    found.push({ kind: 'unreachable', since: unreachable });
  }
  return [...found, ...expiringNotifications({ sent, expiresAt }, since, now)];
}

/** `since`: when the outage or the wait began; null if there is neither. */
function expiringNotifications(
  { sent, expiresAt }: Pick<NotifiedListener, 'sent' | 'expiresAt'>,
  since: Date | null,
  now: Date,
): DueNotification[] {
  if (!since || !expiresAt || now < after(expiresAt, -EXPIRING_MS)) return [];
  const isDue = mayNotify(sent?.expiringTold, sent?.expiringMailAt, since, now);
  return isDue ? [{ kind: 'expiring', since }] : [];
}

function returnNotifications(
  { listener, sent, isDraining }: Omit<NotifiedListener, 'expiresAt' | 'queuedAt'>,
  now: Date,
): DueNotification[] {
  if (!sent?.since) return [];
  // A listener that no longer fetches shows by a delivered vote that the wait is over, as after an outage.
  if (isSame(sent.unfetchedTold, sent.since) && listener.protocol === 'fetch') {
    const isFetched = listener.fetched && listener.fetched.at > sent.since;
    return isFetched ? [{ kind: 'fetched-again', since: sent.since }] : [];
  }
  // New settings reset the breaker; only a delivered vote shows that the outage is over.
  const isProven = (listener.lastDeliveredAt ?? sent.since) > sent.since;
  const isSettled = !isDraining || (sent.backAt && now >= after(sent.backAt, SETTLED_MS));
  return isProven && isSettled ? [{ kind: 'returned', since: sent.since }] : [];
}

/** `told`: the start of the outage that the last notification of this kind was about; `sentAt`: when it was written. */
function mayNotify(
  told: Date | null | undefined,
  sentAt: Date | null | undefined,
  since: Date,
  now: Date,
): boolean {
  return !isSame(told, since) && (!sentAt || now >= after(sentAt, AT_MOST_EVERY_MS));
}

function isSame(one: Date | null | undefined, other: Date): boolean {
  return one?.getTime() === other.getTime();
}
