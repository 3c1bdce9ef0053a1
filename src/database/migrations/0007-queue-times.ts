import { DELIVERY_EXPIRES_MS } from '../../listeners/delivery-limits.ts';
import { DURABLE, type Mongo } from '../../platform/mongo.ts';
import { OPEN_WORK } from '../../votes/vote.ts';
import { bindCollections } from '../collections.ts';

const ENTERED_AT = { $subtract: ['$delivery.expiresAt', DELIVERY_EXPIRES_MS] };

/**
 * Sets `queuedAt` of open votes to the time when they entered the queue, by which the sweep finds expired votes. 0.1.0
 * sets it to the time of each failed test of an unreachable listener (docs/adr/0135-due-votes.md). The migration repeats,
 * because processes of 0.1.0 may still do so.
 */
export async function settleQueueTimes(mongo: Mongo): Promise<void> {
  const { votes } = bindCollections(mongo);
  await votes.updateMany(
    // Of all servers.
    {
      serverId: { $exists: true },
      'delivery.queuedAt': { $exists: true },
      'delivery.expiresAt': { $exists: true },
      $expr: { $gt: ['$delivery.queuedAt', ENTERED_AT] },
    },
    [{ $set: { 'delivery.queuedAt': ENTERED_AT } }],
    { hint: OPEN_WORK, writeConcern: DURABLE },
  );
}
