import type { ObjectId } from 'mongodb';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { EventsDeps } from './deps.ts';
import type { StoredEvent } from './event.ts';
import { type EventKind, kindOfType } from './kinds.ts';

export type NewEvent = Omit<StoredEvent, 'serverId' | 'sends' | 'createdAt'> & {
  /** Subscriptions that began later do not get it: when its vote was cast. By default `at`. */
  of?: Date;
};

/** A paused subscription still collects events: they are sent when it goes on. One whose webhook is gone does not. */
export const COLLECTING = { 'pause.by': { $ne: 'gone' } } as const;

/**
 * Stores each event once and for all subscriptions of the server that want it; what nobody wants is not stored. A
 * repeated call stores and sends nothing twice, so a caller that may have died repeats it. Returns how many were new.
 */
export async function storeEvents(
  deps: EventsDeps,
  serverId: ObjectId,
  events: readonly NewEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const subscriptions = await deps.subscriptions
    .find({ serverId, ...COLLECTING }, { projection: { kinds: 1, since: 1 } })
    .toArray();
  const now = deps.clock.now();
  const wanted = events.flatMap(({ of, ...event }) => {
    const kind: EventKind = kindOfType(event.type);
    const sends = subscriptions
      .filter((one) => one.kinds.includes(kind) && one.since <= (of ?? event.at))
      .map(({ _id }) => ({ to: _id, nextAt: now, attempts: 0 }));
    return sends.length > 0 ? [{ ...event, serverId, sends, createdAt: now }] : [];
  });
  if (wanted.length === 0) return 0;
  const inserted = await insertNew(deps, wanted);
  const called = [
    ...new Map(wanted.flatMap(({ sends }) => sends.map(({ to }) => [to.toHexString(), to]))).values(),
  ];
  // If the process dies before this, the caller's repetition stores nothing new and comes here again.
  await deps.subscriptions.updateMany(
    { _id: { $in: called } },
    { $min: { nextPassAt: now }, $inc: { calls: 1 } },
    { writeConcern: DURABLE },
  );
  await deps.producer.addAll(
    'send-events',
    called.map((to) => ({ payload: { subscriptionId: to.toHexString() } })),
  );
  return inserted;
}

/** Of the subscriptions that get a server's events now. */
export async function wantedKinds(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  serverId: ObjectId,
): Promise<Set<EventKind>> {
  return new Set(await subscriptions.distinct('kinds', { serverId, ...COLLECTING }));
}

async function insertNew({ events }: EventsDeps, wanted: StoredEvent[]): Promise<number> {
  try {
    return (await events.insertMany(wanted, { ordered: false, writeConcern: DURABLE })).insertedCount;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return (error as { insertedCount?: number }).insertedCount ?? 0;
  }
}
