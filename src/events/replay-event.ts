import { recordAudit } from '../platform/audit/audit-log.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { EventsDeps } from './deps.ts';
import { type SubscriptionOf, wakeSubscription } from './subscriptions.ts';

/**
 * Sends a stored event again, under its id: at once, or when the subscription goes on. False if the event or the
 * subscription is gone; events are stored for 30 days.
 */
export async function replayEvent(
  deps: EventsDeps,
  { serverId, subscriptionId: to }: SubscriptionOf,
  eventId: string,
  by: string,
): Promise<boolean> {
  const { events, subscriptions, clock } = deps;
  const subscription = await subscriptions.findOne({ _id: to, serverId });
  if (!subscription) return false;
  const send = { to, nextAt: clock.now(), attempts: 0 };
  const { matchedCount } = await events.updateOne(
    { _id: eventId, serverId },
    [{ $set: { sends: { $concatArrays: [others(to), [send]] } } }],
    { writeConcern: DURABLE },
  );
  if (matchedCount === 0) return false;
  await wakeSubscription(deps, to);
  const { name, url, ending } = subscription;
  await recordAudit(deps, {
    by,
    action: 'subscription.replay',
    serverId,
    details: { name, ...(url ? { url } : { ending }), eventId },
  });
  return true;
}

function others(to: SubscriptionOf['subscriptionId']) {
  return { $filter: { input: '$sends', cond: { $ne: ['$$this.to', to] } } };
}
