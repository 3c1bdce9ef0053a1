import type { ObjectId } from 'mongodb';
import { setGoal } from '../../src/goals/change-goal.ts';
import { recountGoalFrom } from '../../src/goals/count-goal.ts';
import type { GoalPeriod } from '../../src/goals/goal.ts';
import { readGoalProgress } from '../../src/goals/goal-progress.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type CountChange, finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { exclusionIdOf, requestExclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { listServers } from '../support/servers.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';

export type GoalBench = {
  deps: AppDeps & { clock: StoppedClock };
  serverId: ObjectId;
  /** Stores votes that were cast at this time, by default now. */
  cast: (votes: number, at?: Date) => Promise<void>;
  set: (target: number, period: GoalPeriod) => Promise<ObjectId>;
  /** The names of all stored rounds, in the order in which they were stored. */
  rounds: () => Promise<string[]>;
  progress: () => Promise<{ votes: number; timesReached: number } | null>;
};

let voters = 0;

/** A server without votes, and a clock that stands still at `at`. */
export async function goalBench(at: Date): Promise<GoalBench> {
  const deps = { ...(await testDeps()), clock: stoppedClock(at) };
  const [serverId] = (await listServers(deps, [{}])) as [ObjectId];
  return {
    deps,
    serverId,
    async cast(votes, votedAt = deps.clock.now()) {
      const cast = Array.from({ length: votes }, () => storedVote(serverId, `p${++voters}`, votedAt));
      if (votes > 0) await deps.votes.insertMany(cast);
    },
    async set(target, period) {
      const goal = await setGoal(deps, serverId, { target, period }, 'owner@example.org');
      if (!goal) throw new Error('the server is not listed');
      return goal.goalId;
    },
    async rounds() {
      const found = await deps.goalRounds.find({ serverId }).sort({ at: 1, _id: 1 }).toArray();
      return found.map(({ round }) => round);
    },
    async progress() {
      const progress = await readGoalProgress(deps, serverId);
      return progress && { votes: progress.votes, timesReached: progress.timesReached };
    },
  };
}

/** As the worker that finishes exclusions does. The clock stands still: nothing waits for votes under way. */
export function recounting(deps: AppDeps) {
  const oldest = ({ votes }: CountChange) =>
    new Date(Math.min(...votes.map(({ votedAt }) => votedAt.getTime())));
  return {
    settledMs: -MINUTE,
    beforeChange: (change: CountChange) => recountGoalFrom(deps, change.serverId, oldest(change)),
  };
}

/** Excludes all votes of the last day. `options`: a test looks at the goal between the batches. */
export async function excludeAll({ deps, serverId }: GoalBench, options = recounting(deps)) {
  const now = deps.clock.now();
  const range = { serverId, since: after(now, -DAY), until: now, tokenId: null, reason: 'Bots' };
  const exclusionId = await exclusionIdOf(deps, range);
  await requestExclusion(deps, exclusionId, range, 'op@example.org', { wakesWorker: false });
  await finishExclusion(deps, exclusionId, options);
  return { _id: exclusionId };
}
