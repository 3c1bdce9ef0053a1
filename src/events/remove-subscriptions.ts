import type { ObjectId } from 'mongodb';
import type { EventsDeps } from './deps.ts';
import { removeSubscription } from './subscriptions.ts';

/** All of a server, or those that were added until then. A repeated call completes an interrupted one. */
export async function removeSubscriptions(
  deps: EventsDeps,
  serverId: ObjectId,
  by: string,
  createdUntil?: Date,
): Promise<void> {
  const found = { serverId, ...(createdUntil ? { createdAt: { $lte: createdUntil } } : {}) };
  for (const { _id } of await deps.subscriptions.find(found, { projection: { _id: 1 } }).toArray())
    await removeSubscription(deps, { serverId, subscriptionId: _id }, by);
}
