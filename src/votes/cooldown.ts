import { after, HOUR } from '../platform/clock.ts';
import type { NewestVotes } from './newest-votes.ts';
import type { Vote } from './vote.ts';

/** The cooldown: a player may vote for a server once in any period of this length. */
export const COOLDOWN_MS = 24 * HOUR;

/** When the cooldown ends: from this moment on (inclusive) the player may vote for the server again. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

/** Whether the cooldown of `vote` still runs at `now`. */
function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/** The player's newest votes whose cooldown still runs at `now`; the one with the latest end is first. */
export function blockingVotes({ live, imported }: NewestVotes, now: Date): Vote[] {
  return [live, imported]
    .filter((vote) => vote !== null)
    .filter((vote) => blocks(vote, now))
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
}
