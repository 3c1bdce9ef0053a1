import { after, HOUR } from '../platform/clock.ts';
import type { NewestVotes } from './newest-votes.ts';
import type { Vote } from './vote.ts';

/** A player may vote once for a server in any rolling time of this length. */
export const COOLDOWN_MS = 24 * HOUR;

/** The moment from which, itself included, the player of `vote` may vote for that server again. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

/** Whether `vote` still keeps its player from voting at `now`. */
function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/** Those of a player's newest votes that keep them from voting at `now`; the one that does so longest is first. */
export function votesInTheWay({ live, imported }: NewestVotes, now: Date): Vote[] {
  return [live, imported]
    .filter((vote) => vote !== null)
    .filter((vote) => blocks(vote, now))
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
}
