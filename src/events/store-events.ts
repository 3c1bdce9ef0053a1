import type { ObjectId } from 'mongodb';
import { anyOf } from '../platform/batching/find-loader.ts';
import { DURABLE, insertAbsent } from '../platform/mongo.ts';
import type { EventsDeps } from './deps.ts';
import type { StoredEvent } from './event.ts';
import { type EventKind, kindOfType } from './kinds.ts';

export type NewEvent = Omit<StoredEvent, 'serverId' | 'sends' | 'createdAt'> & {
  /** Subscriptions that began later do not get it: when its vote was cast. By default `at`. */
  of?: Date;
};

/** A paused subscription still collects events: they are sent when it goes on. One whose webhook is gone does not. */
export const COLLECTING = { 'pause.by': { $ne: 'gone' } } as const;

export type OfServer = NewEvent & Pick<StoredEvent, 'serverId'>;

/** As `storeEventsOf`, of one server. */
export function storeEvents(
  deps: EventsDeps,
  serverId: ObjectId,
  events: readonly NewEvent[],
): Promise<number> {
  return storeEventsOf(
    deps,
    events.map((event) => ({ ...event, serverId })),
  );
}

/**
 * Stores each event once and for all subscriptions of its server that want it; what nobody wants is not stored. A
 * repeated call stores and sends nothing twice, so a caller that may have died repeats it. Returns how many were new.
 */
export async function storeEventsOf(deps: EventsDeps, events: readonly OfServer[]): Promise<number> {
  if (events.length === 0) return 0;
  const now = deps.clock.now();
  const wanted = await withSends(deps, events, now);
  if (wanted.length === 0) return 0;
  const inserted = wanted.length - (await insertAbsent(deps.events, wanted)).length;
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

async function withSends(
  { subscriptions }: EventsDeps,
  events: readonly OfServer[],
  now: Date,
): Promise<StoredEvent[]> {
  const serverIds = new Map(events.map(({ serverId }) => [serverId.toHexString(), serverId]));
  const collecting = await subscriptions
    .find(
      { serverId: anyOf([...serverIds.values()]), ...COLLECTING },
      { projection: { serverId: 1, kinds: 1, since: 1 } },
    )
    .toArray();
  const byServer = Map.groupBy(collecting, ({ serverId }) => serverId.toHexString());
  return events.flatMap(({ of, ...event }) => {
    const kind: EventKind = kindOfType(event.type);
    const sends = (byServer.get(event.serverId.toHexString()) ?? [])
      .filter(({ kinds, since }) => kinds.includes(kind) && since <= (of ?? event.at))
      .map(({ _id }) => ({ to: _id, nextAt: now, attempts: 0 }));
    return sends.length > 0 ? [{ ...event, sends, createdAt: now }] : [];
  });
}

/** Their ids. */
export async function serversWanting(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  kind: EventKind,
): Promise<Set<string>> {
  const found = subscriptions.find({ kinds: kind, ...COLLECTING }, { projection: { _id: 0, serverId: 1 } });
  return new Set(await found.map(({ serverId }) => serverId.toHexString()).toArray());
}

/** Of the subscriptions that get a server's events now. */
export async function wantedKinds(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  serverId: ObjectId,
): Promise<Set<EventKind>> {
  return new Set(await subscriptions.distinct('kinds', { serverId, ...COLLECTING }));
}
