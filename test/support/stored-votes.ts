import { type ObjectId, UUID } from 'mongodb';
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
