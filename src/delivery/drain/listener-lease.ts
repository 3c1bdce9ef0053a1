import type { Collection, Document, ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import type { Logger } from '../../platform/log.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';

type LeaseDeps = { listeners: Collection<Listener>; config: { LEASE_MS: number } };

/**
 * Takes a listener's lease if it is free or has expired; mongod's clock decides. If another worker owns the lease, the
 * wake-up is recorded on it (`called`), and that worker looks for due votes once more.
 *
 * @returns the listener; `'busy'` when another worker owns the lease, null when there is no listener
 */
export async function takeLease(
  { listeners, config }: LeaseDeps,
  serverId: ObjectId,
  owner: string,
): Promise<Listener | 'busy' | null> {
  const isFree = { $lt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] };
  const taken = { owner: { $literal: owner }, until: { $add: ['$$NOW', config.LEASE_MS] } };
  const called = { $mergeObjects: ['$lease', { called: true }] };
  const listener = await listeners.findOneAndUpdate(
    { serverId },
    [{ $set: { lease: { $cond: [isFree, taken, called] } } }],
    { returnDocument: 'after' },
  );
  if (!listener) return null;
  return listener.lease?.owner === owner ? listener : 'busy';
}

/**
 * Renews a lease, even an expired one. If another worker has owned the lease meanwhile, it is lost even if it is free
 * now, because that worker may have changed the listener's state.
 *
 * @returns the current listener, or null when the lease is lost
 */
export function renewLease(
  { listeners, config }: LeaseDeps,
  serverId: ObjectId,
  owner: string,
): Promise<Listener | null> {
  return listeners.findOneAndUpdate(
    { serverId, 'lease.owner': owner },
    [{ $set: { 'lease.until': { $add: ['$$NOW', config.LEASE_MS] } } }],
    { returnDocument: 'after' },
  );
}

/**
 * An unreachable listener's breaker with its next test at `at` instead of later, as an aggregation expression; used
 * when its game server is back.
 */
export function withEarlierTest(at: Date | '$lease.testAt'): Document {
  const isLater = { $gt: ['$breaker.nextTestAt', at] };
  const now = { nextTestAt: at, hastenedBy: 'server-returned' };
  return { $cond: [isLater, { $mergeObjects: ['$breaker', now] }, '$breaker'] };
}

/**
 * Releases a lease and stores the listener's last delivery. If the game server came back meanwhile (`testAt`) and the
 * listener is unreachable, the next test is due at that time. Does nothing if another worker owns the lease.
 *
 * @returns the listener's revision, and whether a wake-up job ran meanwhile; null when the lease was lost
 */
export async function releaseLease(
  { listeners }: Pick<LeaseDeps, 'listeners'>,
  serverId: ObjectId,
  owner: string,
  learnt: Partial<Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'>>,
): Promise<{ revision: number; called: boolean } | null> {
  const isTestRequested = { $and: [{ $gt: ['$lease.testAt', null] }, { $gt: ['$breaker.openSince', null] }] };
  const breaker = { $cond: [isTestRequested, withEarlierTest('$lease.testAt'), '$breaker'] };
  const released = await listeners.findOneAndUpdate(
    { serverId, 'lease.owner': owner },
    [{ $set: { breaker, lease: null, ...learnt } }],
    { projection: { lease: 1, revision: 1 }, writeConcern: REPLICATED },
  );
  return released && { revision: released.revision, called: released.lease?.called ?? false };
}

/**
 * Releases a lease after an error of MongoDB, with retries until MongoDB answers or the lease has expired. If the
 * lease stayed, no worker could send the listener's votes until then. Never throws; logs when it gives up.
 *
 * @param ending - once aborted, there is only one more try
 */
export async function giveBackWithRetries(
  leasing: LeaseDeps & { log: Logger },
  serverId: ObjectId,
  owner: string,
  ending: AbortSignal,
): Promise<void> {
  const expiresAt = performance.now() + leasing.config.LEASE_MS;
  try {
    await retry(() => releaseLease(leasing, serverId, owner, {}), {
      deadline: () => expiresAt,
      signal: ending,
    });
  } catch (error) {
    const reason = String(error);
    leasing.log.warn({ event: 'lease.not_released', serverId: serverId.toHexString(), reason });
  }
}
