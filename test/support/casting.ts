import type { ObjectId, UUID } from 'mongodb';
import { MINUTE } from '../../src/platform/clock.ts';
import { CastDeadline } from '../../src/votes/cast/cast-deadline.ts';
import { castOnce as castOnceWithin, type OnceDeps } from '../../src/votes/cast/cast-once.ts';
import {
  type CastDeps,
  type CastRequest,
  castVote as castVoteWithin,
} from '../../src/votes/cast/cast-vote.ts';
import { usernameKey } from '../../src/votes/username.ts';

/** The values of a vote that a test gives. The key of the player's name is derived from the name. */
export type Ballot = Pick<CastRequest, 'serverId' | 'username' | 'tokenId'> & { quarantineId?: ObjectId };

/** Casts a vote without the API and the page, by the rule alone. The deadline is far away. */
export function castVote(deps: CastDeps, ballot: Ballot, voteId?: UUID): ReturnType<typeof castVoteWithin> {
  return castVoteWithin(deps, requestOf(ballot), new CastDeadline(MINUTE), voteId);
}

/** Casts a vote with an idempotency key, without the API and the page. The deadline is far away. */
export function castOnce(
  deps: OnceDeps,
  { key, ...ballot }: Ballot & { key: string },
  bodyOf: Parameters<typeof castOnceWithin>[2],
): ReturnType<typeof castOnceWithin> {
  return castOnceWithin(deps, { ...requestOf(ballot), key }, bodyOf, new CastDeadline(MINUTE));
}

function requestOf(ballot: Ballot): CastRequest {
  return { ...ballot, usernameKey: usernameKey(ballot.username) };
}
