import type { ObjectId } from 'mongodb';
import type { DayWeight } from '../../votes/vote-counter.ts';
import type { RankingDeps } from '../deps.ts';
import { rankingDays } from '../ranking-pipeline.ts';
import { ALWAYS_FULL, firstWeighedDay } from './due-days.ts';

/** `later`: the vote was cast after its day was last weighed. */
export const LESS_WEIGHT_REASONS = ['network', 'newcomers', 'api', 'unknown', 'waiting', 'later'] as const;
export type LessWeightReason = (typeof LESS_WEIGHT_REASONS)[number];

const NONE = { network: 0, newcomers: 0, api: 0, unknown: 0, waiting: 0, later: 0 };

/** For each reason: how many votes weigh less. */
export type RankDay = {
  day: string;
  votes: number;
  /** In votes with one decimal. */
  rankVotes: number;
  /**
   * Those for which there was room; null if our checks see no number. Undefined if the day has no weight, or all votes
   * of the finished day count in full.
   */
  players?: number | null | undefined;
  /** By our checks, if that is more than `players`. */
  seen?: number | undefined;
} & Record<LessWeightReason, number>;

/** Oldest first, up to `lastDay`. */
export async function rankVotesByDay(deps: RankingDeps, serverId: ObjectId, lastDay: string) {
  const days = rankingDays(lastDay);
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const [counters, first] = await Promise.all([
    deps.voteCounters
      .find({ serverId, month: { $in: months } }, { projection: { _id: 0, month: 1, days: 1, weighed: 1 } })
      .toArray(),
    firstWeighedDay(deps),
  ]);
  const byMonth = new Map(counters.map((counter) => [counter.month, counter]));
  return days.map((day) => {
    const counter = byMonth.get(day.slice(0, 7));
    const isWeighed = first !== null && day >= first;
    return rankDay(
      day,
      counter?.days[day.slice(8)] ?? 0,
      isWeighed ? counter?.weighed?.[day.slice(8)] : undefined,
      isWeighed,
    );
  });
}

/** As the last ranking counted it. Votes cast since then are `later`, or count in full if all others do. */
function rankDay(
  day: string,
  votes: number,
  weight: DayWeight | number | undefined,
  isWeighed: boolean,
): RankDay {
  if (!isWeighed || votes <= ALWAYS_FULL || typeof weight === 'number')
    return { day, votes, rankVotes: votes, ...NONE };
  if (!weight) return { day, votes, rankVotes: ALWAYS_FULL, ...NONE, later: votes - ALWAYS_FULL };
  const { of, tenths, players, seen, network = 0, newcomers = 0, api = 0, unknown = 0, waiting = 0 } = weight;
  return {
    day,
    votes,
    rankVotes: tenths === 10 * of ? votes : Math.min(tenths, 10 * votes) / 10,
    players,
    seen,
    network,
    newcomers,
    api,
    unknown,
    waiting,
    later: tenths === 10 * of ? 0 : Math.max(0, votes - of),
  };
}

export function sumOfDays(days: RankDay[]) {
  const sum = { votes: 0, rankVotes: 0, ...NONE };
  for (const day of days) {
    sum.votes += day.votes;
    for (const reason of LESS_WEIGHT_REASONS) sum[reason] += day[reason];
  }
  // Summed in tenths, as whole numbers, so that the sum has no rounding error.
  sum.rankVotes = days.reduce((tenths, { rankVotes }) => tenths + Math.round(10 * rankVotes), 0) / 10;
  return sum;
}
