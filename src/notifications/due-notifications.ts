import type { Listener } from '../listeners/listener.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/schedule.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import type { SentNotifications } from './sent-notifications.ts';

/** How long a listener is unreachable before its owner is told: restarts and short outages are nobody's news. */
const UNREACHABLE_FOR_MS = HOUR;

/** How long before votes are given up their owner is told. */
const EXPIRING_MS = 24 * HOUR;

/** A listener that comes and goes does not fill its owner's mailbox. */
const AT_MOST_EVERY_MS = DAY;

/** A return is told once all votes that waited have ended; those that take longer are named as waiting still. */
const SETTLED_MS = HOUR;

/** Something that the owner of a listener is to be told. */
export type DueNotification = {
  kind: 'paused' | 'unreachable' | 'expiring' | 'returned';
  /** When the outage began: with the kind it names the notification. */
  since: Date;
};

/** A listener and its open votes, as far as they matter here. */
export type Seen = {
  listener: Pick<Listener, '_id' | 'serverId' | 'pause' | 'breaker' | 'limited' | 'lastDeliveredAt'>;
  told: SentNotifications | null;
  /** When the oldest waiting vote is given up. */
  expiresAt: Date | null;
  /** Whether votes that were cast before the listener came back are still waiting. */
  isDraining: boolean;
};

/** When an outage began; null while the listener works. */
export function outageSince({ pause, breaker }: Pick<Listener, 'pause' | 'breaker'>): Date | null {
  return pause?.at ?? breaker.openSince ?? null;
}

/**
 * What is to be told of a listener now. Pure: it goes by how things stand, so whoever was away tells nothing of
 * what is over.
 */
export function dueNotifications(
  { listener, told, expiresAt, isDraining }: Seen,
  now: Date,
): DueNotification[] {
  const { pause, breaker, limited } = listener;
  const since = outageSince(listener);
  if (!since) {
    // Nothing failed, and votes wait all the same: since the oldest of them was cast.
    const waiting = limited && expiresAt ? after(expiresAt, -DELIVERY_EXPIRES_MS) : null;
    return [
      ...hasReturned({ listener, told, isDraining }, now),
      ...areExpiring({ told, expiresAt }, waiting, now),
    ];
  }
  const found: DueNotification[] = [];
  if (pause?.by === 'tallyport' && !isSame(told?.pauseTold, pause.at)) {
    found.push({ kind: 'paused', since: pause.at });
  }
  const unreachable = !pause && breaker.openSince ? breaker.openSince : null;
  if (
    unreachable &&
    now >= after(unreachable, UNREACHABLE_FOR_MS) &&
    !isSame(told?.unreachableTold, unreachable) &&
    isLongAgo(told?.unreachableMailAt, now)
  ) {
    found.push({ kind: 'unreachable', since: unreachable });
  }
  return [...found, ...areExpiring({ told, expiresAt }, since, now)];
}

/** Votes that wait since `since` are given up soon. */
function areExpiring(
  { told, expiresAt }: Pick<Seen, 'told' | 'expiresAt'>,
  since: Date | null,
  now: Date,
): DueNotification[] {
  if (!since || !expiresAt || now < after(expiresAt, -EXPIRING_MS)) return [];
  const isTold = isSame(told?.expiringTold, since) || !isLongAgo(told?.expiringMailAt, now);
  return isTold ? [] : [{ kind: 'expiring', since }];
}

function hasReturned({ listener, told, isDraining }: Omit<Seen, 'expiresAt'>, now: Date): DueNotification[] {
  if (!told?.since) return [];
  // New settings forget an outage; only a vote that arrived shows that it is over.
  const isProven = (listener.lastDeliveredAt ?? told.since) > told.since;
  const isSettled = !isDraining || (told.backAt && now >= after(told.backAt, SETTLED_MS));
  return isProven && isSettled ? [{ kind: 'returned', since: told.since }] : [];
}

function isSame(one: Date | null | undefined, other: Date): boolean {
  return one?.getTime() === other.getTime();
}

function isLongAgo(at: Date | null | undefined, now: Date): boolean {
  return !at || now >= after(at, AT_MOST_EVERY_MS);
}
