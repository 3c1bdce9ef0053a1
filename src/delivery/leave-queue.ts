import type { Filter, ObjectId } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { after } from '../platform/clock.ts';
import { CLOCKS_DIFFER_MS } from '../votes/cast/insert-vote.ts';
import { OPEN_WORK, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import { endLostAttempts } from './drain/lost-attempts.ts';

/** Open and expired, unless the clock of this process is ahead. */
export function queuedLongAgo(now: Date): Filter<Vote> {
  return { 'delivery.queuedAt': { $gt: new Date(0), $lte: after(now, -DELIVERY_EXPIRES_MS) } };
}

/** They can still be resent by hand. Returns how many. */
export async function expireVotes({ votes, clock }: DeliveryDeps, serverId: ObjectId): Promise<number> {
  const now = clock.now();
  const overdue: Filter<Vote> = {
    serverId,
    ...queuedLongAgo(now),
    'delivery.state': 'waiting',
    // mongod's clock decides: a worker whose clock is ahead would give up votes too early.
    $expr: { $lte: ['$delivery.expiresAt', '$$NOW'] },
  };
  const expired = await votes.updateMany(
    overdue,
    {
      $set: { 'delivery.state': 'failed' },
      $unset: DELIVERY_ENDED,
      $push: { 'delivery.events': { at: now, kind: 'expired' } },
    },
    { hint: OPEN_WORK },
  );
  return expired.modifiedCount;
}

/**
 * Removes a server's waiting votes that were queued by `asOf`: later ones may wait for a new listener. Returns how
 * many. Those of a removed listener can be sent by hand. Running attempts go on.
 */
export async function removeWaitingVotes(
  { votes, clock }: DeliveryDeps,
  serverId: ObjectId,
  kind: 'listener-removed' | 'server-removed',
  asOf = clock.now(),
): Promise<number> {
  const removed = await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.queuedAt': { $lte: asOf } },
    {
      $set: { 'delivery.state': kind === 'listener-removed' ? 'none' : 'failed' },
      $unset: DELIVERY_ENDED,
      $push: { 'delivery.events': { at: clock.now(), kind } },
    },
  );
  return removed.modifiedCount;
}

/**
 * First ends lost attempts, because no drain of this server does. Safe to run again. `asOf`: by this process's clock.
 */
export async function removeVotesWithoutListener(recording: DeliveryDeps, serverId: ObjectId, asOf: Date) {
  await endLostAttempts(recording, serverId, null);
  // A web process sets `queuedAt`. If its clock is behind, the vote was really queued later, perhaps for a new
  // listener.
  const queuedBy = after(asOf, -CLOCKS_DIFFER_MS);
  return removeWaitingVotes(recording, serverId, 'listener-removed', queuedBy);
}
