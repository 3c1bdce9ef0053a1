import type { ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { type Listener, rewardsOf } from '../listeners/listener.ts';
import { after } from '../platform/clock.ts';
import { isImported, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { mayArriveTwice } from './resend-vote.ts';
import { type ResentRange, resendVotes } from './resend-votes.ts';

const MOST_COUNTED = 100;
/** How many votes are read if those among the newest ones are not all unsent. */
const MOST_READ = 5_000;

/** `more`: there may be more. */
export type EarlierVotes = { votes: number; more: boolean };

/**
 * Counts the votes that were cast before the listener was created, were never sent or claimed, and can still be sent:
 * up to 100, among the newest 5,000.
 */
export async function countEarlierVotes(
  { votes, clock }: DeliveryDeps,
  { serverId, createdAt, ...listener }: Pick<Listener, 'serverId' | 'createdAt' | 'rewards'>,
): Promise<EarlierVotes> {
  const oldest = after(clock.now(), -RESENDABLE_MS);
  if (createdAt <= oldest || rewardsOf(listener) === 'claims') return { votes: 0, more: false };
  const newest = (most: number) =>
    votes
      .find({ serverId, 'delivery.state': 'none', votedAt: { $gt: oldest, $lt: createdAt } })
      .sort({ votedAt: -1 })
      .limit(most)
      .project<Unsent>({ seq: 1, quarantinedAt: 1, claim: 1, delivery: 1 })
      .toArray();
  let read = await newest(MOST_COUNTED);
  if (read.length === MOST_COUNTED && !read.every(isUnsent)) read = await newest(MOST_READ);
  const unsent = read.filter(isUnsent).length;
  const more = unsent >= MOST_COUNTED || read.length === MOST_READ;
  return { votes: Math.min(unsent, MOST_COUNTED), more };
}

type Unsent = Pick<Vote, 'seq' | 'quarantinedAt' | 'claim' | 'delivery'>;

function isUnsent(vote: Unsent): boolean {
  return (
    !isImported(vote) && !vote.quarantinedAt && !mayArriveTwice(vote) && vote.delivery.attemptCount === 0
  );
}

const MOST_SENT = 5_000;

/** Queues the votes that `countEarlierVotes` counts, the oldest first, at most 5,000 in one run. Safe to run again. */
export async function sendEarlierVotes(
  deps: DeliveryDeps,
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
