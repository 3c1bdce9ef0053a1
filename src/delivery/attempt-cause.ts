import type { Document } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';

/** What is known when votes are taken about the reason. */
export type TakeReason = {
  /** It tests an unreachable listener. */
  test: boolean;
  /** When the sweep found due work of this listener that no job had been added for. */
  relayedAt?: Date | undefined;
};

/**
 * Why a taken vote is attempted now, as fields of its attempt (aggregation expressions on the waiting vote): its own
 * next time or the moment when its listener is back, whichever was later. Absent when neither is on record.
 */
export function causeOfAttempt(
  { breaker, released }: Pick<Listener, 'breaker' | 'released'>,
  { test, relayedAt }: TakeReason,
): Document {
  if (test) return { wokenBy: breaker.hastenedBy ?? 'listener-test' };
  const ownTime = '$delivery.nextAt';
  const wokenBy = released
    ? { $cond: [{ $gte: [released.at, ownTime] }, released.by, '$delivery.dueBy'] }
    : '$delivery.dueBy';
  if (!relayedAt) return { wokenBy };
  const dueAt = released ? { $max: [released.at, ownTime] } : ownTime;
  // The sweep always finds votes whose own next time has come: that is not worth recording.
  const uncalled = { $and: [{ $ne: [wokenBy, 'schedule'] }, { $gte: [relayedAt, dueAt] }] };
  return { wokenBy, relayed: { $cond: [uncalled, true, '$$REMOVE'] } };
}
