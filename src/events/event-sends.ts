import type { ObjectId } from 'mongodb';
import type { EventsDeps } from './deps.ts';
import { DUE_SENDS, type StoredEvent } from './event.ts';
import { MOST_WAITING } from './subscription.ts';

type SendsDeps = Pick<EventsDeps, 'events' | 'clock'>;

const waitingFor = (to: ObjectId) => ({ sends: { $elemMatch: { to } } });

/** @param countedAtMost - counting stops there */
export function countWaitingEvents(
  { events }: Pick<EventsDeps, 'events'>,
  to: ObjectId,
  countedAtMost = MOST_WAITING,
): Promise<number> {
  return events.countDocuments(waitingFor(to), { hint: DUE_SENDS, limit: countedAtMost });
}

/** By the index, so those that have been due the longest come first. */
export function findDueEvents(
  { events, clock }: SendsDeps,
  to: ObjectId,
  most: number,
): Promise<StoredEvent[]> {
  return events
    .find({ sends: { $elemMatch: { to, nextAt: { $lte: clock.now() } } } }, { hint: DUE_SENDS, limit: most })
    .toArray();
}

/** When the next one is due; null if none waits. */
export async function nextDueAt({ events }: Pick<EventsDeps, 'events'>, to: ObjectId): Promise<Date | null> {
  const first = await events.findOne(waitingFor(to), { hint: DUE_SENDS, projection: { sends: 1 } });
  return first?.sends.find((send) => send.to.equals(to))?.nextAt ?? null;
}

/** Those that failed before are due now too, and begin their schedule again. */
export async function makeAllDue({ events, clock }: SendsDeps, to: ObjectId): Promise<void> {
  const now = clock.now();
  await events.updateMany(
    { sends: { $elemMatch: { to, nextAt: { $gt: now } } } },
    { $set: { 'sends.$[own].nextAt': now, 'sends.$[own].attempts': 0 } },
    { arrayFilters: [{ 'own.to': to }], hint: DUE_SENDS },
  );
}

/** Of a removed subscription. */
export async function removeWaitingEvents(
  { events }: Pick<EventsDeps, 'events'>,
  to: ObjectId,
): Promise<void> {
  await events.updateMany(waitingFor(to), { $pull: { sends: { to } } }, { hint: DUE_SENDS });
}
