import type { Collection, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { type Listener, rewardsOf } from '../listeners/listener.ts';
import { after, type Clock } from '../platform/clock.ts';
import { isImported, type Vote } from '../votes/vote.ts';
import type { ResendDeps } from './resend-vote.ts';
import { type ResentRange, resendVotes } from './resend-votes.ts';

/** `countEarlierVotes` reads at most this many votes, so there may be more than it counts. */
export const EARLIER_COUNTED = 100;

/**
 * How many votes from before the listener was first set can still be sent and were never sent or claimed; 0 if votes
 * can only be claimed. Only the newest 100 are read; imported and held votes among them are not counted.
 */
export async function countEarlierVotes(
  { votes, clock }: { votes: Collection<Vote>; clock: Clock },
  { serverId, createdAt, ...listener }: Pick<Listener, 'serverId' | 'createdAt' | 'rewards'>,
): Promise<number> {
  const oldest = after(clock.now(), -RESENDABLE_MS);
  if (createdAt <= oldest || rewardsOf(listener) === 'claims') return 0;
  const newest = await votes
    .find({ serverId, 'delivery.state': 'none', votedAt: { $gt: oldest, $lt: createdAt } })
    .sort({ votedAt: -1 })
    .limit(EARLIER_COUNTED)
    .project<Unsent>({ seq: 1, quarantinedAt: 1, claim: 1, 'delivery.attemptCount': 1 })
    .toArray();
  return newest.filter(isUnsent).length;
}

type Unsent = Pick<Vote, 'seq' | 'quarantinedAt' | 'claim' | 'delivery'>;

function isUnsent(vote: Unsent): boolean {
  return !isImported(vote) && !vote.quarantinedAt && !vote.claim && vote.delivery.attemptCount === 0;
}

const MOST_SENT = 5_000;

/**
 * Queues the votes from before the listener was first set that were never sent or claimed, at most 5,000 in one run.
 * Safe to run again.
 *
 * @returns null when the server has no listener
 */
export async function sendEarlierVotes(
  deps: ResendDeps,
  serverId: ObjectId,
  { by, byId }: { by: string; byId: ObjectId },
): Promise<ResentRange | null> {
  const listener = await deps.listeners.findOne({ serverId }, { projection: { createdAt: 1, rewards: 1 } });
  if (!listener) return null;
  if (rewardsOf(listener) === 'claims') return { resent: 0, mayArriveTwice: 0, more: false };
  const range = {
    since: after(deps.clock.now(), -RESENDABLE_MS),
    until: listener.createdAt,
    states: ['none' as const],
    neverSent: true as const,
  };
  return resendVotes(deps, serverId, range, by, { most: MOST_SENT, byId });
}
