import type { Accepted } from './cast-vote.ts';
import { nextVoteAt } from './cooldown.ts';

/** The answer to an accepted vote, as the API sends it and an idempotency key stores it (`/docs`, POST …/vote). */
export type VoteAnswer = { success: true; monthly_votes: number; next_vote_at: string };

/** The answer as JSON. A key stores this text, and a replay sends it byte for byte. */
export function writeAnswer({ vote, monthlyVotes }: Pick<Accepted, 'vote' | 'monthlyVotes'>): string {
  const answer: VoteAnswer = {
    success: true,
    monthly_votes: monthlyVotes,
    next_vote_at: nextVoteAt(vote).toISOString(),
  };
  return JSON.stringify(answer);
}

/** When the player of a stored answer may vote again. */
export function nextVoteAtOf(body: string): Date {
  const { next_vote_at }: VoteAnswer = JSON.parse(body);
  return new Date(next_vote_at);
}
