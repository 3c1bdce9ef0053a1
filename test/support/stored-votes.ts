import { type Collection, type ObjectId, UUID } from 'mongodb';
import { after, HOUR } from '../../src/clock.ts';
import { DELIVERY_EXPIRES_MS } from '../../src/delivery/schedule.ts';
import type { Delivery, Vote } from '../../src/votes/vote.ts';

/** A vote's delivery in `state`, never tried; `more` says what else is known. */
export function deliveryIn(state: Delivery['state'], more: Partial<Delivery> = {}): Delivery {
  return {
    state,
    step: 0,
    ambiguousEnds: 0,
    attemptCount: 0,
    attempts: [],
    ends: {},
    events: [],
    ...more,
  };
}

/** A vote of `player` as it is stored, the first one of its player and not forwarded unless `more` says so. */
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

/** The times that the delivery of a due vote of `votedAt` has in `state`: a state has these and no others. */
export function timesIn(
  state: Delivery['state'],
  votedAt: Date,
): Pick<Delivery, 'nextAt' | 'queuedAt' | 'expiresAt' | 'leaseUntil' | 'deliveredAt'> {
  const open = { queuedAt: votedAt, expiresAt: after(votedAt, DELIVERY_EXPIRES_MS) };
  if (state === 'waiting') return { ...open, nextAt: votedAt };
  if (state === 'sending') return { ...open, leaseUntil: after(new Date(), HOUR) };
  return state === 'delivered' ? { deliveredAt: votedAt } : {};
}

/** Puts the delivery of a vote into `state`; it was never tried unless `more` says so. */
export async function putInState(
  { votes }: { votes: Collection<Vote> },
  { serverId, _id, votedAt }: Pick<Vote, 'serverId' | '_id' | 'votedAt'>,
  state: Delivery['state'],
  more: Partial<Delivery> = {},
): Promise<void> {
  const delivery = deliveryIn(state, { ...timesIn(state, votedAt), ...more });
  await votes.updateOne({ serverId, _id }, { $set: { delivery } });
}
