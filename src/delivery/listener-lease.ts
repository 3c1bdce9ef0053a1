import type { Collection, Document, ObjectId } from 'mongodb';
import type { Listener } from './listener.ts';

type Leasing = { listeners: Collection<Listener>; config: { LEASE_MS: number } };

/** A lease from now on, by mongod's clock. */
function lease(owner: string, { LEASE_MS }: Leasing['config']): Document[] {
  return [{ $set: { lease: { owner, until: { $add: ['$$NOW', LEASE_MS] } } } }];
}

/** Takes a lease that is free or has run out; `'busy'` when another holds it, null when there is no listener. */
export async function takeLease(
  { listeners, config }: Leasing,
  serverId: ObjectId,
  owner: string,
): Promise<Listener | 'busy' | null> {
  const taken = await listeners.findOneAndUpdate(
    { serverId, $expr: { $lt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] } },
    lease(owner, config),
    { returnDocument: 'after' },
  );
  if (taken) return taken;
  return (await listeners.countDocuments({ serverId }, { limit: 1 })) > 0 ? 'busy' : null;
}

/**
 * Renews a lease that is still held. One that another took meanwhile is lost, also when it is free again: how
 * the listener stands may have changed.
 *
 * @returns the listener as it is now, or null when the lease is lost
 */
export function renewLease(
  { listeners, config }: Leasing,
  serverId: ObjectId,
  owner: string,
): Promise<Listener | null> {
  return listeners.findOneAndUpdate({ serverId, 'lease.owner': owner }, lease(owner, config), {
    returnDocument: 'after',
  });
}
