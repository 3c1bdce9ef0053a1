import type { WithId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { blockingVotes, nextVoteAt } from './cast/cooldown.ts';
import type { VotesDeps } from './deps.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';
import { monthOf } from './vote-counts.ts';

/** The longest time between two votes of a streak: a player may vote at any time of day, but must not skip a day. */
const STREAK_GAP_MS = 48 * HOUR;
export const STREAK_GAP_HOURS = STREAK_GAP_MS / HOUR;

/** At most this many live and this many imported votes are read, newest first: more than a year of daily votes. */
const MOST_READ = 400;

export type VoteStreak = {
  /** Votes of the current UTC month. */
  monthlyVotes: number;
  /** The number of votes in a row until now, with gaps of at most 48 hours; counts only the votes that were read. */
  streak: number;
  /** True if older votes of the streak may have lost their name, so that the streak may be longer. */
  isOpenEnded: boolean;
  /** When the next vote is allowed; null if it is allowed now. */
  nextVoteAt: Date | null;
  /** The time of the vote whose cooldown runs; null if none does. */
  votedAt: Date | null;
};

/** Excluded votes do not count, but their cooldown applies. */
export async function voteStreak(
  { votes, clock }: VotesDeps,
  { _id: serverId, votesNamedSince }: Pick<WithId<Server>, '_id' | 'votesNamedSince'>,
  username: string,
): Promise<VoteStreak> {
  const now = clock.now();
  const newest = (seq: { $gt: number } | { $lt: number }) =>
    votes
      .find({ serverId, usernameKey: usernameKey(username), seq })
      .sort({ seq: -1 })
      .limit(MOST_READ)
      .project<Vote>({ seq: 1, votedAt: 1, excludedAt: 1, cooldownEndedAt: 1 })
      .toArray();
  const [live, imported] = await Promise.all([newest({ $gt: 0 }), newest({ $lt: 0 })]);
  const counted = [...live, ...imported]
    .filter(({ excludedAt }) => !excludedAt)
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
  const [blocking] = blockingVotes({ live: live[0] ?? null, imported: imported[0] ?? null }, now);
  const streak = streakOf(counted, now);
  const first = counted[streak - 1];
  return {
    monthlyVotes: counted.filter(({ votedAt }) => monthOf(votedAt) === monthOf(now)).length,
    streak,
    isOpenEnded: Boolean(first && votesNamedSince && after(votesNamedSince, STREAK_GAP_MS) >= first.votedAt),
    nextVoteAt: blocking ? nextVoteAt(blocking) : null,
    votedAt: blocking?.votedAt ?? null,
  };
}

/** @param votes - newest first */
function streakOf(votes: Vote[], now: Date): number {
  let later = now;
  let streak = 0;
  for (const { votedAt } of votes) {
    if (later.getTime() - votedAt.getTime() > STREAK_GAP_MS) break;
    later = votedAt;
    streak += 1;
  }
  return streak;
}
