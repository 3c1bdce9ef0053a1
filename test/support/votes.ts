import { type ObjectId, UUID } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../../src/listeners/delivery-limits.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { type Delivery, noDelivery, type Vote } from '../../src/votes/vote.ts';

const BATCH = 5_000;

/** A vote's delivery in `state`, without attempts. `more` overrides fields. */
export function deliveryIn(state: Delivery['state'], more: Partial<Delivery> = {}): Delivery {
  return { ...noDelivery(), state, ...more };
}

/**
 * A stored vote by `player`. By default it is the player's first vote and is not forwarded; `more` overrides fields.
 */
export function storedVote(
  serverId: ObjectId,
  player: string,
  votedAt: Date,
  more: Partial<Vote> = {},
): Vote {
  return {
    _id: new UUID(),
    serverId,
    username: player,
    usernameKey: player,
    seq: 1,
    votedAt,
    tokenId: null,
    delivery: deliveryIn('none'),
    ...more,
  };
}

/** The time fields that the delivery of a due vote has in `state`. Each state has exactly its own ones. */
function timesIn(
  state: Delivery['state'],
  votedAt: Date,
): Pick<Delivery, 'nextAt' | 'queuedAt' | 'expiresAt' | 'leaseUntil' | 'deliveredAt'> {
  const open = { queuedAt: votedAt, expiresAt: after(votedAt, DELIVERY_EXPIRES_MS) };
  if (state === 'waiting') return { ...open, nextAt: votedAt };
  if (state === 'sending') return { ...open, leaseUntil: after(new Date(), HOUR) };
  return state === 'delivered' ? { deliveredAt: votedAt } : {};
}

/** Sets the delivery of a vote to `state`. By default there was no attempt; `more` overrides fields. */
export async function putInState(
  { votes }: Pick<AppDeps, 'votes'>,
  { serverId, _id, votedAt }: Pick<Vote, 'serverId' | '_id' | 'votedAt'>,
  state: Delivery['state'],
  more: Partial<Delivery> = {},
): Promise<void> {
  const delivery = deliveryIn(state, { ...timesIn(state, votedAt), ...more });
  await votes.updateOne({ serverId, _id }, { $set: { delivery } });
}

/** A delivery that has waited since `votedAt`, without attempts and due at once. `more` overrides fields. */
export function waitingDelivery(votedAt: Date, more: Partial<Delivery> = {}): Delivery {
  return deliveryIn('waiting', { ...timesIn('waiting', votedAt), ...more });
}

/** A vote that waits for its listener, as a new vote is inserted. */
export function waitingVote(
  serverId: ObjectId,
  player: string,
  votedAt: Date,
  more: Partial<Vote> = {},
): Vote {
  const waiting = { _id: newVoteId(votedAt), delivery: waitingDelivery(votedAt) };
  return storedVote(serverId, player, votedAt, { ...waiting, ...more });
}

/** A vote that its listener acknowledged at the first attempt. */
export function deliveredVote(
  serverId: ObjectId,
  player: string,
  votedAt: Date,
  more: Partial<Vote> = {},
): Vote {
  const delivery = deliveryIn('delivered', { step: 1, attemptCount: 1, ends: { delivered: 1 } });
  return storedVote(serverId, player, votedAt, { _id: newVoteId(votedAt), delivery, ...more });
}

/** Inserts `each` waiting votes for every server, a millisecond apart. Adds no jobs. */
export async function insertWaitingVotes(
  { votes }: Pick<AppDeps, 'votes'>,
  serverIds: ObjectId[],
  each: number,
): Promise<void> {
  const oldest = after(new Date(), -each);
  const all = serverIds.length * each;
  for (let from = 0; from < all; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, all - from) }, (_, i) => {
      const n = Math.floor((from + i) / serverIds.length);
      const votedAt = after(oldest, n);
      const serverId = serverIds[(from + i) % serverIds.length] as ObjectId;
      return waitingVote(serverId, `w${n}-${votedAt.getTime().toString(36)}`, votedAt);
    });
    await votes.insertMany(batch, { ordered: false });
  }
}

/** Moves a server's votes, and their counters, `byMs` into the past, if necessary to the day before. */
export async function ageVotes(deps: AppDeps, serverId: ObjectId, byMs: number): Promise<void> {
  await deps.voteCounts.flush();
  await deps.votes.updateMany({ serverId }, [{ $set: { votedAt: { $subtract: ['$votedAt', byMs] } } }]);
  await deps.voteCounters.deleteMany({ serverId });
  const now = deps.clock.now();
  await recountVotes(deps, serverId, [...new Set([dayOf(after(now, -byMs - MINUTE)), dayOf(now)])]);
}
