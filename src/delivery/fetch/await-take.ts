import { setTimeout as pause } from 'node:timers/promises';
import type { Listener, ListenerFetch } from '../../listeners/listener.ts';
import { after, SECOND } from '../../platform/clock.ts';
import type { DeliveryDeps } from '../deps.ts';

/** Longer than a take may wait: a program that takes votes all the time begins its next one within this time. */
const AWAITED_MS = 40 * SECOND;
const LOOK_EVERY_MS = SECOND / 4;

/**
 * Waits for the next take of a listener's votes; null when none comes. A take that already waits counts too: it is
 * woken, reads the listener again, and its time is stored again (`noteTake`).
 */
export async function awaitTake(
  { listeners, producer, clock }: DeliveryDeps,
  { _id, serverId, fetched }: Pick<Listener, '_id' | 'serverId' | 'fetched'>,
  waitMs = AWAITED_MS,
): Promise<ListenerFetch | null> {
  const before = fetched?.at.getTime() ?? 0;
  // `noteTake` stores a take at once only before this time. The clock of the process that stored the last may be ahead.
  const fetchAwaitedAt = new Date(Math.max(clock.now().getTime(), after(new Date(before), 1).getTime()));
  await listeners.updateOne({ serverId, _id }, { $set: { fetchAwaitedAt } });
  const until = performance.now() + waitMs;
  try {
    await producer.announceDueVotes(serverId.toHexString());
    for (;;) {
      const now = await listeners.findOne({ serverId, _id }, { projection: { fetched: 1 } });
      if (now?.fetched && now.fetched.at.getTime() > before) return now.fetched;
      if (performance.now() > until) return null;
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    await listeners.updateOne({ serverId, _id, fetchAwaitedAt }, { $unset: { fetchAwaitedAt: '' } });
  }
}
