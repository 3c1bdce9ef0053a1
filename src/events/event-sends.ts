import type { ObjectId } from 'mongodb';
import type { EventsDeps } from './deps.ts';
import { DUE_SENDS, type EventSend, type StoredEvent } from './event.ts';
import { MOST_WAITING } from './subscription.ts';

type SendsDeps = Pick<EventsDeps, 'events' | 'clock'>;

/** @param countedAtMost - counting stops there */
export function countWaitingEvents(
  { events }: Pick<EventsDeps, 'events'>,
  to: ObjectId,
  countedAtMost?: number,
): Promise<number> {
  const limit = countedAtMost === undefined ? {} : { limit: countedAtMost };
  return events.countDocuments({ 'sends.to': to }, { hint: DUE_SENDS, ...limit });
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

export function sendTo({ sends }: Pick<StoredEvent, 'sends'>, to: ObjectId): EventSend | undefined {
  return sends.find((send) => send.to.equals(to));
}

/** When the next one is due; null if none waits. */
export async function nextDueAt({ events }: Pick<EventsDeps, 'events'>, to: ObjectId): Promise<Date | null> {
  const first = await events.findOne(
    { sends: { $elemMatch: { to } } },
    { hint: DUE_SENDS, projection: { sends: 1 } },
  );
  return (first && sendTo(first, to)?.nextAt) ?? null;
}

/** `ended`: sent, refused or given up. An event that is in neither list is unchanged. */
export type EndedSends = { ended: string[]; again: ({ eventId: string } & Omit<EventSend, 'to'>)[] };

export async function recordEnds(
  { events }: Pick<EventsDeps, 'events'>,
  to: ObjectId,
  { ended, again }: EndedSends,
): Promise<void> {
  const operations = [
    ...(ended.length > 0
      ? [{ updateMany: { filter: { _id: { $in: ended } }, update: { $pull: { sends: { to } } } } }]
      : []),
    ...again.map(({ eventId: _id, nextAt, attempts }) => ({
      updateOne: {
        filter: { _id },
        update: { $set: { 'sends.$[own].nextAt': nextAt, 'sends.$[own].attempts': attempts } },
        arrayFilters: [{ 'own.to': to }],
      },
    })),
  ];
  if (operations.length > 0) await events.bulkWrite(operations, { ordered: false });
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

const MOST_DROPPED_AT_ONCE = 1_000;

/** Beyond the limit of waiting events, those that have been due the longest. Returns how many. */
export async function dropOldestEvents(
  { events, subscriptions, clock }: Pick<EventsDeps, 'events' | 'subscriptions' | 'clock'>,
  to: ObjectId,
): Promise<number> {
  let excess = (await countWaitingEvents({ events }, to)) - MOST_WAITING;
  let dropped = 0;
  while (excess > 0) {
    const limit = Math.min(excess, MOST_DROPPED_AT_ONCE);
    const oldest = await events
      .find({ sends: { $elemMatch: { to } } }, { hint: DUE_SENDS, limit, projection: { _id: 1 } })
      .map(({ _id }) => _id)
      .toArray();
    const { modifiedCount } = await events.updateMany({ _id: { $in: oldest } }, { $pull: { sends: { to } } });
    dropped += modifiedCount;
    excess -= limit;
  }
  if (dropped > 0)
    await subscriptions.updateOne(
      { _id: to },
      { $inc: { 'dropped.count': dropped }, $set: { 'dropped.at': clock.now() } },
    );
  return dropped;
}

/** Of a removed subscription or server. */
export async function removeWaitingEvents(
  { events }: Pick<EventsDeps, 'events'>,
  to: ObjectId,
): Promise<void> {
  await events.updateMany({ 'sends.to': to }, { $pull: { sends: { to } } }, { hint: DUE_SENDS });
}
