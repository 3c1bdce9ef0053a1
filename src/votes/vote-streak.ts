import type { WithId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { blockingVotes, nextVoteAt } from './cast/cooldown.ts';
import type { VotesDeps } from './deps.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';
import { monthOf } from './vote-counts.ts';

/** A player may vote at any time of day, but must not skip a day. */
const STREAK_GAP_MS = 48 * HOUR;
export const STREAK_GAP_HOURS = STREAK_GAP_MS / HOUR;

/** Of live and of imported votes: more than a year of daily votes. */
const MOST_READ = 400;

export type VoteStreak = {
  /** In the current UTC month. */
  monthlyVotes: number;
  /** Of the votes that were read, with gaps of at most 48 hours. */
  streak: number;
  /** Older votes of it may have lost their name. */
  isOpenEnded: boolean;
  /** Null if it is allowed now. */
  nextVoteAt: Date | null;
  /** The time of the vote whose cooldown runs. */
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
