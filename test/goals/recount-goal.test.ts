import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { countGoal, recountGoalFrom, watchedGoals } from '../../src/goals/count-goal.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { requestExclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { includeVotes } from '../support/exclusions.ts';
import { excludeAll, type GoalBench, goalBench, recounting } from './goals.ts';

/** A Saturday. */
const START = new Date('2026-11-21T10:00:00Z');

let bench: GoalBench;

beforeEach(async () => {
  bench = await goalBench(START);
});

const look = () => countGoal(bench.deps, bench.serverId);

describe('when operators change votes', () => {
  it('a look between the call and the change does not hide the change', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(5, 'rolling');
    await cast(4);
    deps.clock.move(MINUTE);
    await look();
    const { beforeChange, settledMs } = recounting(deps);
    await excludeAll(bench, {
      settledMs,
      async beforeChange(change) {
        await beforeChange(change);
        await look();
      },
    });
    // Finished now: the look counts what is excluded, although an earlier one had counted it again.
    expect(await watchedGoals(deps)).toMatchObject([{ isDue: true }]);
    await look();
    expect(await watchedGoals(deps)).toMatchObject([{ isDue: false }]);
    await cast(1);
    await look();
    expect([await rounds(), await progress()]).toEqual([[], { votes: 1, timesReached: 0 }]);
  });

  it('a look during an exclusion of several batches counts what is excluded so far', async () => {
    const { cast, set, progress, deps } = bench;
    await set(5_000, 'rolling');
    await cast(2_500);
    deps.clock.move(MINUTE);
    await look();
    const seen: unknown[] = [];
    const { beforeChange, settledMs } = recounting(deps);
    await excludeAll(bench, {
      settledMs,
      async beforeChange(change) {
        await look();
        seen.push((await progress())?.votes);
        await beforeChange(change);
      },
    });
    await look();
    expect([...seen, (await progress())?.votes]).toEqual([2_500, 1_500, 500, 0]);
  });

  it('votes that are excluded and returned count as before, and no round is stored twice', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(5, 'rolling');
    await cast(7);
    deps.clock.move(MINUTE);
    await look();
    const { _id } = await excludeAll(bench);
    await look();
    await includeVotes(deps, _id, 'op@example.org', recounting(deps));
    await look();
    expect([await rounds(), await progress()]).toEqual([['1'], { votes: 2, timesReached: 1 }]);
  });

  it('an exclusion that was interrupted is counted again until another run has finished it', async () => {
    const { cast, set, progress, deps, serverId } = bench;
    await set(5, 'rolling');
    await cast(4);
    deps.clock.move(MINUTE);
    await look();
    const exclusionId = new ObjectId();
    const range = { serverId, since: START, until: deps.clock.now(), tokenId: null, reason: 'Bots' };
    await requestExclusion(deps, exclusionId, range, 'op@example.org', { wakesWorker: false });
    const { beforeChange, settledMs } = recounting(deps);
    const dying = { ...deps, voteExclusions: failing(deps.voteExclusions, 'findOne', 3) };
    await expect(finishExclusion(dying, exclusionId, { settledMs, beforeChange })).rejects.toThrow('died');
    await look();
    await look();
    expect(await watchedGoals(deps)).toMatchObject([{ isDue: true }]);
    await finishExclusion(deps, exclusionId, { settledMs, beforeChange });
    await look();
    expect([await watchedGoals(deps), await progress()]).toMatchObject([
      [{ isDue: false }],
      { votes: 0, timesReached: 0 },
    ]);
  });
});

/** Throws at the `at`th call of a method: the process dies there. */
function failing<T extends object>(target: T, method: keyof T, at: number): T {
  let calls = 0;
  return new Proxy(target, {
    get(of, name) {
      const value = Reflect.get(of, name, of);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === method && ++calls === at) throw new Error('the process died');
        return value.apply(of, args);
      };
    },
  });
}

describe('if the process dies or two look at once', () => {
  it('after the rounds were stored, the next look shows them, also if their votes are excluded by then', async () => {
    const { cast, set, rounds, progress, deps, serverId } = bench;
    await set(5, 'rolling');
    await cast(11);
    deps.clock.move(MINUTE);
    const dying = { ...deps, voteGoals: failing(deps.voteGoals, 'updateOne', 1) };
    await expect(countGoal(dying, serverId)).rejects.toThrow('died');
    expect([await rounds(), await progress()]).toEqual([['1', '2'], { votes: 5, timesReached: 0 }]);
    await excludeAll(bench);
    await look();
    expect([await rounds(), await progress()]).toEqual([['1', '2'], { votes: 0, timesReached: 2 }]);
    const goal = await deps.voteGoals.findOne({ serverId });
    expect(goal?.reachedAt).toEqual(deps.clock.now());
  });

  it('before the rounds were stored, the next look stores them', async () => {
    const { cast, set, rounds, deps, serverId } = bench;
    await set(5, 'rolling');
    await cast(5);
    const dying = { ...deps, goalRounds: failing(deps.goalRounds, 'insertMany', 1) };
    await expect(countGoal(dying, serverId)).rejects.toThrow('died');
    await look();
    expect(await rounds()).toEqual(['1']);
  });

  it('ten looks at once store each round once', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(5, 'rolling');
    await cast(52);
    deps.clock.move(MINUTE);
    const ended = await Promise.all(Array.from({ length: 10 }, look));
    expect(ended).toContain(true);
    expect((await rounds()).toSorted((one, other) => Number(one) - Number(other))).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
    ]);
    await look();
    expect(await progress()).toEqual({ votes: 2, timesReached: 10 });
  });

  it('a look at a goal that is replaced meanwhile does not change the new one', async () => {
    const { cast, set, progress, deps, serverId } = bench;
    await set(50, 'rolling');
    await cast(7);
    deps.clock.move(MINUTE);
    const voteExclusions = deps.voteExclusions;
    await recountGoalFrom(deps, serverId, START);
    let replaced = false;
    const during = {
      ...deps,
      voteExclusions: new Proxy(voteExclusions, {
        get(of, name) {
          const value = Reflect.get(of, name, of);
          if (name !== 'findOne') return value;
          return async (...args: Parameters<typeof of.findOne>) => {
            if (!replaced)
              await setGoal(deps, serverId, { target: 9, period: 'rolling' }, 'owner@example.org');
            replaced = true;
            return voteExclusions.findOne(...args);
          };
        },
      }),
    };
    await countGoal(during, serverId);
    expect(await progress()).toEqual({ votes: 0, timesReached: 0 });
  });

  it('a change of older votes during a look is not lost', async () => {
    const { cast, set, progress, deps, serverId } = bench;
    await set(50, 'rolling');
    await cast(7);
    deps.clock.move(MINUTE);
    let marked = false;
    const during = {
      ...deps,
      goalRounds: new Proxy(deps.goalRounds, {
        get(of, name) {
          const value = Reflect.get(of, name, of);
          if (name !== 'countDocuments') return typeof value === 'function' ? value.bind(of) : value;
          return async (...args: Parameters<typeof of.countDocuments>) => {
            if (!marked) await excludeAll(bench);
            marked = true;
            return of.countDocuments(...args);
          };
        },
      }),
    };
    await countGoal(during, serverId);
    await cast(1);
    expect(await progress()).toEqual({ votes: 1, timesReached: 0 });
  });
});
