import type { Document } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';

/** What a claim knows of why it is made. */
export type ClaimReason = {
  /** It tests an unreachable listener. */
  test: boolean;
  /** When the relay found work of this listener due for which no call had come. */
  relayedAt?: Date | undefined;
};

/**
 * Why the vote that is claimed is attempted now, as fields of its attempt (aggregation expressions on the vote as
 * it waits): the later of the two that it waited for, its own time and the listener's release. Absent where
 * neither is on record.
 */
export function causeOfAttempt(
  { breaker, released }: Pick<Listener, 'breaker' | 'released'>,
  { test, relayedAt }: ClaimReason,
): Document {
  if (test) return { wokenBy: breaker.hastenedBy ?? 'listener-test' };
  const ownTime = '$delivery.nextAt';
  const wokenBy = released
    ? { $cond: [{ $gte: [released.at, ownTime] }, released.by, '$delivery.dueBy'] }
    : '$delivery.dueBy';
  if (!relayedAt) return { wokenBy };
  const dueAt = released ? { $max: [released.at, ownTime] } : ownTime;
  // Its own next time is always found by the relay: that says nothing.
  const uncalled = { $and: [{ $ne: [wokenBy, 'schedule'] }, { $gte: [relayedAt, dueAt] }] };
  return { wokenBy, relayed: { $cond: [uncalled, true, '$$REMOVE'] } };
}
