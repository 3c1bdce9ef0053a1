import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';
import { asLiterals } from '../delivery/store-listener.ts';
import { SECOND } from '../platform/clock.ts';
import type { EventsDeps } from './deps.ts';
import type { Subscription } from './subscription.ts';

/** Longer than a pass may take (send-events.ts). If its worker dies, another one sends after this time. */
const LEASE_MS = 30 * SECOND;

/** A subscription whose lease this pass has. */
export type Leased = Subscription & { lease: NonNullable<Subscription['lease']> };

/** Null if another pass has the lease, by mongod's clock, or if the subscription has changed since it was read. */
export async function takeSubscription(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  { _id, revision }: Pick<Subscription, '_id' | 'revision'>,
): Promise<Leased | null> {
  const owner = randomUUID();
  const taken = await subscriptions.findOneAndUpdate(
    { _id, revision, $expr: { $lt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] } },
    [{ $set: { lease: { owner, until: { $add: ['$$NOW', LEASE_MS] } } } }],
    { returnDocument: 'after' },
  );
  return taken as Leased | null;
}

/** False after a pause, a removal, a change or a rotation: the pass ends, and the next one has the new settings. */
export async function isStillLeased(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  { _id, revision, lease }: Leased,
): Promise<boolean> {
  return (
    (await subscriptions.findOne(
      { _id, revision, 'lease.owner': lease.owner },
      { projection: { _id: 1 } },
    )) !== null
  );
}

/** What a pass has learnt; undefined removes the field. */
export type PassState = Pick<Subscription, 'failures'> & {
  [Field in 'failingSince' | 'lastReason' | 'lastSentAt' | 'slowUntil' | 'proven' | 'notBefore' | 'pause']:
    | Subscription[Field]
    | undefined;
};

/**
 * Releases the lease. If an event was stored since the pass began, its wake-up stays. `changed`: the settings were, so
 * of what the pass has learnt only the slowness is stored. `lost`: the lease or the subscription is gone.
 *
 * @param nextPassAt - null if no event waits
 */
export async function endPass(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  { _id, revision, lease, calls }: Leased,
  state: PassState,
  nextPassAt: Date | null,
): Promise<'stored' | 'changed' | 'lost'> {
  const { matchedCount } = await subscriptions.updateOne({ _id, revision, 'lease.owner': lease.owner }, [
    { $set: { ...orRemoved(state), nextPassAt: unlessCalled(calls, nextPassAt), lease: '$$REMOVE' } },
  ]);
  if (matchedCount > 0) return 'stored';
  const released = await subscriptions.updateOne(
    { _id, 'lease.owner': lease.owner },
    { $unset: { lease: '' }, ...(state.slowUntil ? { $set: { slowUntil: state.slowUntil } } : {}) },
  );
  return released.matchedCount > 0 ? 'changed' : 'lost';
}

/** Of a subscription whose events may not be sent now. */
export async function moveNextPass(
  { subscriptions }: Pick<EventsDeps, 'subscriptions'>,
  { _id, calls }: Pick<Subscription, '_id' | 'calls'>,
  nextPassAt: Date | null,
): Promise<void> {
  await subscriptions.updateOne({ _id }, [{ $set: { nextPassAt: unlessCalled(calls, nextPassAt) } }]);
}

function unlessCalled(calls: number, nextPassAt: Date | null): Document {
  return { $cond: [{ $eq: ['$calls', calls] }, nextPassAt ?? '$$REMOVE', '$nextPassAt'] };
}

function orRemoved(state: PassState): Document {
  const entries = Object.entries(state);
  const removed = entries.filter(([, value]) => value === undefined).map(([name]) => [name, '$$REMOVE']);
  return {
    ...asLiterals(Object.fromEntries(entries.filter(([, value]) => value !== undefined))),
    ...Object.fromEntries(removed),
  };
}
