import type { ObjectId, UUID } from 'mongodb';
import type { Block } from '../blocks/block-list.ts';
import type { VotesDeps } from '../deps.ts';
import { openHoldingExclusion } from '../exclusions/quarantine.ts';
import { usernameKey } from '../username.ts';
import { type CastDeadline, castWithinDeadline } from './cast-deadline.ts';
import { castOnce, type KeyReused } from './cast-once.ts';
import { type Accepted, type CastRequest, castVote, type Refused } from './cast-vote.ts';
import { nextVoteAt } from './cooldown.ts';

export type ApiVote = Pick<CastRequest, 'serverId' | 'username' | 'tokenId'> & {
  /** The `Idempotency-Key`, 1 to 255 visible ASCII characters. */
  key: string | undefined;
};

export type AcceptedFromApi = {
  kind: 'accepted';
  voteId: UUID;
  nextVoteAt: Date;
  /** JSON (`VoteAnswer`); a replay has the first answer byte for byte. */
  body: string;
  /** An earlier request with the same key was accepted; this one cast nothing. */
  replayed: boolean;
};

/** As the API sends it and an idempotency key stores it. */
export type VoteAnswer = { success: true; monthly_votes: number; next_vote_at: string };

/**
 * A vote under a blocked name gets the usual answer, but is held: not counted or delivered, and no plugin can claim it
 * (ADR 98).
 *
 * @throws {DeadlineError} when nothing was cast; {VoteResultUnknownError} when the vote may have been cast; the
 *   driver's error when the database failed before the insert
 */
export async function castVoteFromApi(
  deps: VotesDeps,
  { key, ...vote }: ApiVote,
  deadline: CastDeadline,
): Promise<AcceptedFromApi | Refused | KeyReused> {
  const named = { ...vote, usernameKey: usernameKey(vote.username) };
  const quarantineId = await deadline.wait(exclusionIfBlocked(deps, named));
  const request = quarantineId ? { ...named, quarantineId } : named;
  return castWithinDeadline(deps, vote.serverId, deadline, () =>
    key === undefined
      ? castPlain(deps, request, deadline)
      : castUnderKey(deps, { ...request, key }, deadline),
  );
}

/** Counts a hit of the block. */
async function exclusionIfBlocked(
  deps: VotesDeps,
  { serverId, username, usernameKey }: CastRequest,
): Promise<ObjectId | null> {
  const now = deps.clock.now();
  const block = await deps.blockList.findName(usernameKey, now);
  if (!block) return null;
  deps.blockList.countHit(block, now);
  return exclusionOfBlock(deps, { serverId, blockId: block._id, username, usernameKey });
}

type Held = { serverId: ObjectId; blockId: Block['_id']; username: string; usernameKey: string };

/** Finds or creates it. If an operator undoes it, its votes count and are delivered, as when a quarantine is lifted. */
export function exclusionOfBlock(deps: VotesDeps, { serverId, blockId, ...player }: Held): Promise<ObjectId> {
  const open = { serverId, blockId, state: 'excluded' } as const;
  return openHoldingExclusion(deps, open, { ...player, reason: 'The name of the player is blocked.' });
}

async function castPlain(
  deps: VotesDeps,
  request: CastRequest,
  deadline: CastDeadline,
): Promise<AcceptedFromApi | Refused> {
  const cast = await castVote(deps, request, deadline);
  if (cast.kind === 'refused') return cast;
  const { vote } = cast;
  const [voteId, body] = [vote._id, writeAnswer(cast)];
  return { kind: 'accepted', voteId, nextVoteAt: nextVoteAt(vote), body, replayed: false };
}

async function castUnderKey(
  deps: VotesDeps,
  request: CastRequest & { key: string },
  deadline: CastDeadline,
): Promise<AcceptedFromApi | Refused | KeyReused> {
  const cast = await castOnce(deps, request, writeAnswer, deadline);
  if (cast.kind !== 'answer') return cast;
  const { voteId, body, replayed } = cast;
  return { kind: 'accepted', voteId, nextVoteAt: nextVoteAtOf(body), body, replayed };
}

/** A key stores this text, and a replay sends it byte for byte. */
function writeAnswer({ vote, monthlyVotes }: Accepted): string {
  const answer: VoteAnswer = {
    success: true,
    monthly_votes: monthlyVotes,
    next_vote_at: nextVoteAt(vote).toISOString(),
  };
  return JSON.stringify(answer);
}

function nextVoteAtOf(body: string): Date {
  const { next_vote_at }: VoteAnswer = JSON.parse(body);
  return new Date(next_vote_at);
}
