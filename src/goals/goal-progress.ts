import type { Collection, ObjectId, WithId } from 'mongodb';
import { after } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { CLOCKS_DIFFER_MS } from '../votes/cast/insert-vote.ts';
import { EXCLUDED_VOTES, type Vote } from '../votes/vote.ts';
import type { GoalsDeps } from './deps.ts';
import type { GoalPeriod, VoteGoal } from './goal.ts';
import { spanAt } from './goal-span.ts';

export type GoalProgress = {
  target: number;
  period: GoalPeriod;
  text: string | null;
  /** Of the period, or of a rolling goal towards its next round: these are at most `target`. */
  votes: number;
  /** With at most 2 places. Of a period, it may pass 100. */
  percentage: number;
  /** When the goal was set. */
  since: Date;
  /** Of the present period; `end` is null for a rolling goal. */
  from: Date;
  end: Date | null;
  reachedAt: Date | null;
  timesReached: number;
};

type ProgressDeps = Pick<GoalsDeps, 'voteGoals' | 'votes' | 'clock'>;

/** For pages: a server without a goal costs no query. */
export async function goalOf(
  deps: ProgressDeps,
  { _id, goalId }: WithId<Pick<Server, 'goalId'>>,
): Promise<GoalProgress | null> {
  return goalId ? readGoalProgress(deps, _id) : null;
}

/** Null if the server has none. */
export async function readGoalProgress(deps: ProgressDeps, serverId: ObjectId): Promise<GoalProgress | null> {
  const goal = await deps.voteGoals.findOne({ serverId });
  return goal && goalProgress(deps, goal, deps.clock.now());
}

/** While workers run, they have counted all votes but those of about half a minute (design rule 13). */
const MOST_COUNTED = 50_000;

/** What is counted, and the votes since then, up to `MOST_COUNTED`. Rounds are reached when a worker has stored them. */
export async function goalProgress(
  { votes }: Pick<ProgressDeps, 'votes'>,
  goal: VoteGoal,
  now: Date,
): Promise<GoalProgress> {
  const { serverId, target, period, text, since, reached, reachedAt, counted } = goal;
  const { from, end } = spanAt(goal, now);
  const begin = from > counted.from ? { until: from, votes: 0 } : counted;
  const counts = begin.votes + (await countUpTo(votes, serverId, begin.until, after(now, CLOCKS_DIFFER_MS)));
  // After an exclusion, there may be fewer votes than the stored rounds had.
  const open = Math.min(Math.max(counts - reached * target, 0), target);
  const shown = period === 'rolling' ? open : counts;
  return {
    target,
    period,
    text: text ?? null,
    votes: shown,
    percentage: Math.floor((shown * 10_000) / target) / 100,
    since,
    from,
    end,
    reachedAt: reachedAt ?? null,
    timesReached: reached,
  };
}

/** As `countVotesBetween`, which has no limit. */
async function countUpTo(votes: Collection<Vote>, serverId: ObjectId, from: Date, to: Date): Promise<number> {
  const range = { serverId, votedAt: { $gte: from, $lt: to } };
  const [all, excluded] = await Promise.all([
    votes.countDocuments(range, { limit: MOST_COUNTED }),
    votes.countDocuments(
      { ...range, excludedAt: { $gt: new Date(0) } },
      { hint: EXCLUDED_VOTES, limit: MOST_COUNTED },
    ),
  ]);
  return Math.max(all - excluded, 0);
}
