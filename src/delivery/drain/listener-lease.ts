import type { Collection, Document, ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { sendRepeatable } from '../../platform/batching/write-loaders.ts';
import type { Logger } from '../../platform/log.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';

type LeaseDeps = { listeners: Collection<Listener>; batcher: Batcher; config: { LEASE_MS: number } };

/** `listens`: due votes are announced to the owner over a `DueVotesChannel`. */
type Owner = { owner: string; listens?: boolean };
type LeaseTake = Owner & { serverId: ObjectId; leaseMs: number };

/** Another worker's. */
type Busy = { busy: Listener['lease'] };

/** Several in one statement; reads the listeners. */
const takeLeases: BatchLoader<Collection<Listener>, LeaseTake, Listener | Busy | null> = {
  most: 100,
  async load(listeners, asked) {
    const ids = asked.map(({ serverId }) => serverId);
    const own = (values: unknown[]) => {
      return { $arrayElemAt: [{ $literal: values }, { $indexOfArray: [{ $literal: ids }, '$serverId'] }] };
    };
    const isFree = { $lt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] };
    const taken = {
      owner: own(asked.map(({ owner }) => owner)),
      listens: own(asked.map(({ listens = false }) => listens)),
      until: { $add: ['$$NOW', asked[0]?.leaseMs] },
    };
    const called = { $mergeObjects: ['$lease', { called: true }] };
    const which = { serverId: anyOf(ids) };
    const update = [{ $set: { lease: { $cond: [isFree, taken, called] } } }];
    const found =
      asked.length === 1
        ? [await listeners.findOneAndUpdate(which, update, { returnDocument: 'after' })]
        : await takeSeveral();
    async function takeSeveral() {
      // Of two drains for one listener, `$indexOfArray` finds the first: it becomes the owner, the other gets `busy`.
      await sendRepeatable(listeners, [{ q: which, u: update, multi: true }], REPLICATED);
      return listeners.find(which).toArray();
    }
    const byServer = new Map(found.map((listener) => [listener?.serverId.toHexString(), listener]));
    return asked.map((one) => {
      const listener = byServer.get(one.serverId.toHexString());
      if (!listener) return null;
      return listener.lease?.owner === one.owner ? listener : { busy: listener.lease };
    });
  },
};

/**
 * mongod's clock decides whether it is free. Otherwise the wake-up is recorded (`called`), and the owner looks again.
 */
export function takeLease(
  { listeners, batcher, config }: LeaseDeps,
  serverId: ObjectId,
  owner: Owner,
): Promise<Listener | Busy | null> {
  return batcher.load(takeLeases, listeners, { serverId, ...owner, leaseMs: config.LEASE_MS });
}

/**
 * Even an expired lease. If another worker has owned it meanwhile, it is lost (null), even if it is free now: that
 * worker may have changed the listener's state.
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

/** Does not renew the lease; null as for `renewLease`. */
export const readLeased: BatchLoader<
  Collection<Listener>,
  { serverId: ObjectId; owner: string },
  Listener | null
> = {
  most: 100,
  async load(listeners, asked) {
    const ids = asked.map(({ serverId }) => serverId);
    const owners = asked.map(({ owner }) => owner);
    const found = await listeners.find({ serverId: anyOf(ids), 'lease.owner': anyOf(owners) }).toArray();
    const byOwner = new Map(found.map((listener) => [listener.lease?.owner, listener]));
    return owners.map((owner) => byOwner.get(owner) ?? null);
  },
};

/** An expression for a listener whose game server came back: the next test is due at `at`, or as planned if earlier. */
export function withEarlierTest(at: Date | '$lease.testAt'): Document {
  const isLater = { $gt: ['$breaker.nextTestAt', at] };
  const now = { nextTestAt: at, hastenedBy: 'server-returned' };
  return { $cond: [isLater, { $mergeObjects: ['$breaker', now] }, '$breaker'] };
}

/** Known to the owner when it releases the lease. */
type LeaseEnd = {
  revision: number;
  learnt: Partial<Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'>>;
};

type LeaseRelease = LeaseEnd & { serverId: ObjectId; owner: string };

/** Only listeners that no other process has changed. If one does not match, all answers are `false`. */
const releaseLeases: BatchLoader<Collection<Listener>, LeaseRelease, boolean> = {
  most: 100,
  async load(listeners, asked) {
    const updates = asked.map(({ serverId, owner, revision, learnt }) => ({
      q: { serverId, 'lease.owner': owner, 'lease.called': null, 'lease.testAt': null, revision },
      u: { $set: { lease: null, ...learnt } },
    }));
    const { n } = await sendRepeatable(listeners, updates, REPLICATED);
    return asked.map(() => n === asked.length);
  },
};

/**
 * Stores the last delivery. If the game server came back meanwhile (`testAt`), an unreachable listener's next test is
 * due then. Both results are false if another worker owns the lease; `called`: a wake-up job ran meanwhile.
 */
export async function releaseLease(
  { listeners, batcher }: Pick<LeaseDeps, 'listeners' | 'batcher'>,
  serverId: ObjectId,
  owner: string,
  { revision, learnt }: LeaseEnd,
): Promise<{ called: boolean; changed: boolean }> {
  if (await batcher.load(releaseLeases, listeners, { serverId, owner, revision, learnt }))
    return { called: false, changed: false };
  const isTestRequested = { $and: [{ $gt: ['$lease.testAt', null] }, { $gt: ['$breaker.openSince', null] }] };
  const breaker = { $cond: [isTestRequested, withEarlierTest('$lease.testAt'), '$breaker'] };
  // Null if `releaseLeases` released this lease and answered `false` because of another one.
  const released = await listeners.findOneAndUpdate(
    { serverId, 'lease.owner': owner },
    [{ $set: { breaker, lease: null, ...learnt } }],
    { projection: { lease: 1, revision: 1 }, writeConcern: REPLICATED },
  );
  return {
    called: released?.lease?.called ?? false,
    changed: released !== null && released.revision !== revision,
  };
}

/** No listener has revision -1, so `changed` in the result means nothing. */
export const NOTHING_LEARNT: LeaseEnd = { revision: -1, learnt: {} };

/**
 * After an error of MongoDB, until it answers or the lease has expired: meanwhile no other worker can send the votes.
 * Never throws. Once `ending` is aborted, there is only one more try.
 */
export async function releaseWithRetries(
  leasing: LeaseDeps & { log: Logger },
  serverId: ObjectId,
  owner: string,
  ending: AbortSignal,
): Promise<void> {
  const expiresAt = performance.now() + leasing.config.LEASE_MS;
  try {
    await retry(() => releaseLease(leasing, serverId, owner, NOTHING_LEARNT), {
      deadline: () => expiresAt,
      signal: ending,
    });
  } catch (error) {
    const reason = String(error);
    leasing.log.warn({ event: 'lease.not_released', serverId: serverId.toHexString(), reason });
  }
}
