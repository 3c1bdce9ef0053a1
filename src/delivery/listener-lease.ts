import type { Collection, ObjectId } from 'mongodb';
import type { Listener } from './listener.ts';

/** Takes or renews the lease by mongod's clock; `'busy'` when another holds it, null when there is no listener. */
export async function takeLease(
  { listeners, config }: { listeners: Collection<Listener>; config: { LEASE_MS: number } },
  serverId: ObjectId,
  owner: string,
): Promise<Listener | 'busy' | null> {
  const taken = await listeners.findOneAndUpdate(
    {
      serverId,
      $or: [
        { 'lease.owner': owner },
        { $expr: { $lt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] } },
      ],
    },
    [{ $set: { lease: { owner, until: { $add: ['$$NOW', config.LEASE_MS] } } } }],
    { returnDocument: 'after' },
  );
  if (taken) return taken;
  return (await listeners.countDocuments({ serverId }, { limit: 1 })) > 0 ? 'busy' : null;
}

/**
 * Gives the lease back; does nothing when another holds it by now.
 *
 * @param lastDeliveredAt - when it last took a vote under this lease; one write a drain, not one a vote
 */
export async function giveLeaseBack(
  { listeners }: { listeners: Collection<Listener> },
  serverId: ObjectId,
  owner: string,
  lastDeliveredAt: Date | undefined,
): Promise<void> {
  await listeners.updateOne(
    { serverId, 'lease.owner': owner },
    { $set: { lease: null, ...(lastDeliveredAt ? { lastDeliveredAt } : {}) } },
  );
}
