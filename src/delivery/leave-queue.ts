import type { Filter, ObjectId } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../listeners/schedule.ts';
import type { Batcher } from '../platform/batching/batcher.ts';
import { after } from '../platform/clock.ts';
import { CLOCKS_DIFFER_MS } from '../votes/recount-votes.ts';
import type { Vote } from '../votes/vote.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import type { Recording } from './drain/attempt-record.ts';
import { endLostAttempts } from './drain/lost-attempts.ts';

/** The waiting votes whose time is over. */
export function overdueVotes(now: Date): Filter<Vote> {
  return {
    'delivery.state': 'waiting',
    votedAt: { $lte: after(now, -DELIVERY_EXPIRES_MS) },
    // By mongod's clock: a worker whose own is ahead must not give up what is still in time.
    $expr: { $lte: ['$delivery.expiresAt', '$$NOW'] },
  };
}

/**
 * Gives up waiting votes of a server whose time is over. They can still be resent by hand.
 *
 * @returns how many were given up
 */
export async function expireVotes(
  { votes, clock }: Pick<Recording, 'votes' | 'clock'>,
  serverId: ObjectId,
): Promise<number> {
  const now = clock.now();
  const overdue = { serverId, ...overdueVotes(now) };
  // Mostly there is none, and a read costs less than an update that waits for a majority.
  if (!(await votes.findOne(overdue, { projection: { _id: 1 } }))) return 0;
  const expired = await votes.updateMany(overdue, {
    $set: { 'delivery.state': 'failed' },
    $unset: DELIVERY_ENDED,
    $push: { 'delivery.events': { at: now, kind: 'expired' } },
  });
  return expired.modifiedCount;
}

/**
 * Takes every waiting vote of a server out of the line: to `none` when its listener is gone (to be sent later by
 * hand), to `failed` when the server itself is. Votes being sent end by themselves. Safe to run again.
 *
 * @param asOf - when it was seen that the listener or the server is gone: a vote that entered the line after
 *   that may wait for a listener that was set since
 * @returns how many were taken out
 */
export async function releaseWaitingVotes(
  { votes, clock }: Pick<Recording, 'votes' | 'clock'>,
  serverId: ObjectId,
  kind: 'listener-removed' | 'server-removed',
  asOf = clock.now(),
): Promise<number> {
  const released = await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.queuedAt': { $lte: asOf } },
    {
      $set: { 'delivery.state': kind === 'listener-removed' ? 'none' : 'failed' },
      $unset: DELIVERY_ENDED,
      $push: { 'delivery.events': { at: clock.now(), kind } },
    },
  );
  return released.modifiedCount;
}

/**
 * Takes the votes of a server without a listener out of the line, those too that a dead worker was sending: no
 * drain will end these. Safe to run again.
 *
 * @param asOf - when it was seen that there is no listener, by this process's clock
 * @returns how many were taken out
 */
export async function releaseLeftVotes(
  recording: Recording & { batcher: Batcher },
  serverId: ObjectId,
  asOf: Date,
): Promise<number> {
  await endLostAttempts(recording, serverId);
  // A vote is queued by the web process's clock, which may be behind.
  const queuedBy = after(asOf, -CLOCKS_DIFFER_MS);
  return releaseWaitingVotes(recording, serverId, 'listener-removed', queuedBy);
}
