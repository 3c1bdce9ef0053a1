import { useCheckAllowance } from '../platform/limits/check-allowance.ts';
import type { EventsDeps } from './deps.ts';
import type { SubscriptionOf } from './subscriptions.ts';

/** The codes are stable. Anybody may list a server, so for `http` the ownership must be proven. */
export type SubscriptionTestRefusal =
  | { code: 'not-found' | 'ownership-not-proven' }
  | { code: 'too-many'; nextAllowedAt: Date };

/**
 * Decides whether a user may have a subscription tested, and counts the check; null if so. It opens no connection.
 * Without limits a test would be a port scanner (design rule 11).
 *
 * @param proven - whether this user has proven the ownership
 */
export async function requestSubscriptionTest(
  deps: EventsDeps,
  { serverId, subscriptionId }: SubscriptionOf,
  { userId, proven }: { userId: string; proven: boolean },
): Promise<SubscriptionTestRefusal | null> {
  const subscription = await deps.subscriptions.findOne({ _id: subscriptionId, serverId });
  if (!subscription) return { code: 'not-found' };
  if (subscription.type === 'http' && !proven) return { code: 'ownership-not-proven' };
  const nextAllowedAt = await useCheckAllowance(deps, userId);
  return nextAllowedAt && { code: 'too-many', nextAllowedAt };
}
