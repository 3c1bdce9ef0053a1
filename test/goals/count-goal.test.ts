import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { countGoal, recountGoalFrom, watchedGoals } from '../../src/goals/count-goal.ts';
import { markAnnounced, unannouncedRounds } from '../../src/goals/goal-rounds.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { requestExclusion, requestInclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { excludeVotes, includeVotes } from '../support/exclusions.ts';
import { storedVote } from '../support/votes.ts';
import { type GoalBench, goalBench, recounting } from './goals.ts';

/** A Saturday. */
const START = new Date('2026-11-21T10:00:00Z');

let bench: GoalBench;

beforeEach(async () => {
  bench = await goalBench(START);
});

const look = () => countGoal(bench.deps, bench.serverId);

/** Excludes all votes so far, as an operator does. */
function excludeAll(options = recounting(bench.deps)) {
  const { deps, serverId } = bench;
  const range = { serverId, since: after(START, -DAY), until: deps.clock.now(), tokenId: null };
  return excludeVotes(deps, { ...range, reason: 'Bots' }, 'op@example.org', options);
}

describe('a rolling goal', () => {
  it('is reached at each multiple of its target, and begins again with what is left over', async () => {
    const { cast, set, rounds, progress } = bench;
    await set(5, 'rolling');
    await cast(4);
    await look();
    expect([await rounds(), await progress()]).toEqual([[], { votes: 4, timesReached: 0 }]);

    await cast(1);
    await look();
    expect([await rounds(), await progress()]).toEqual([['1'], { votes: 0, timesReached: 1 }]);

    bench.deps.clock.move(MINUTE);
    await cast(12);
    await look();
    expect([await rounds(), await progress()]).toEqual([['1', '2', '3'], { votes: 2, timesReached: 3 }]);
  });

  it('counts votes from the moment it is set', async () => {
    const { cast, set, rounds, deps } = bench;
    await cast(10, after(START, -1));
    await set(5, 'rolling');
    await cast(4);
    await cast(1, after(START, SECOND));
    deps.clock.move(MINUTE);
    await look();
    expect(await rounds()).toEqual(['1']);
  });

  it('counts a vote that was inserted 20 seconds after it was cast', async () => {
    const { cast, set, rounds, deps } = bench;
    await set(2, 'rolling');
    await cast(1);
    const castAt = deps.clock.now();
    deps.clock.move(20 * SECOND);
    await look();
    await cast(1, castAt);
    await look();
    expect(await rounds()).toEqual(['1']);
  });

  it('counts a vote of a process whose clock is four seconds ahead', async () => {
    const { cast, set, rounds } = bench;
    await set(1, 'rolling');
    await cast(1, after(START, 3 * SECOND));
    await look();
    expect(await rounds()).toEqual(['1']);
  });

  it('shows at most its target until a worker has stored the round', async () => {
    const { cast, set, progress } = bench;
    await set(5, 'rolling');
    await cast(12);
    expect(await progress()).toEqual({ votes: 5, timesReached: 0 });
  });

  it('keeps its rounds when their votes are excluded, and is not reached by the same number again', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(5, 'rolling');
    await cast(6);
    deps.clock.move(MINUTE);
    await look();
    await excludeAll();
    await look();
    expect([await rounds(), await progress()]).toEqual([['1'], { votes: 0, timesReached: 1 }]);

    await cast(9);
    await look();
    expect(await rounds()).toEqual(['1']);
    await cast(1);
    await look();
    expect([await rounds(), await progress()]).toEqual([['1', '2'], { votes: 0, timesReached: 2 }]);
  });

  it('stores thousands of rounds in one look', async () => {
    const { cast, set, rounds } = bench;
    await set(1, 'rolling');
    await cast(2_500);
    await look();
    const all = await rounds();
    expect([all.length, new Set(all).size, all.includes('2500')]).toEqual([2_500, 2_500, true]);
  });
});

describe('a goal of a period', () => {
  it.each([
    ['day', '2026-11-21', '2026-11-22T00:00:00Z', '2026-11-22'],
    ['week', '2026-11-16', '2026-11-23T00:00:00Z', '2026-11-23'],
    ['month', '2026-11-01', '2026-12-01T00:00:00Z', '2026-12-01'],
  ] as const)('of a %s is reached once in it, and begins again at its end', async (period, first, next, second) => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(3, period);
    await cast(7);
    await look();
    await cast(5);
    await look();
    expect([await rounds(), await progress()]).toEqual([[first], { votes: 12, timesReached: 1 }]);

    deps.clock.set(after(new Date(next), -1));
    await cast(1);
    await look();
    expect(await progress()).toEqual({ votes: 13, timesReached: 1 });
    deps.clock.set(new Date(next));
    expect(await progress()).toEqual({ votes: 0, timesReached: 1 });
    await cast(3);
    await look();
    expect([await rounds(), await progress()]).toEqual([[first, second], { votes: 3, timesReached: 2 }]);
  });

  it('is not reached by votes of the period before it was set', async () => {
    const { cast, set, rounds, deps } = bench;
    await cast(10, after(START, -HOUR));
    await set(3, 'day');
    await cast(2);
    deps.clock.move(MINUTE);
    await look();
    expect(await rounds()).toEqual([]);
  });

  it('finishes a period exactly with votes that are inserted after midnight', async () => {
    const { cast, set, rounds, deps } = bench;
    await set(3, 'day');
    const midnight = new Date('2026-11-22T00:00:00Z');
    await cast(2);
    deps.clock.set(after(midnight, 5 * SECOND));
    await cast(2);
    await look();
    expect(await rounds()).toEqual([]);

    deps.clock.set(after(midnight, 18 * SECOND));
    await cast(1, after(midnight, -1));
    await look();
    await cast(1);
    await look();
    deps.clock.move(MINUTE);
    await look();
    expect(await rounds()).toEqual(['2026-11-21', '2026-11-22']);
  });

  it('finishes each period of the days without a worker', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(3, 'day');
    for (const votes of [3, 2, 5, 0, 4]) {
      await cast(votes);
      deps.clock.move(DAY);
    }
    await cast(1);
    expect(await progress()).toEqual({ votes: 1, timesReached: 0 });
    await look();
    expect(await rounds()).toEqual(['2026-11-21', '2026-11-23', '2026-11-25']);
    expect(await progress()).toEqual({ votes: 1, timesReached: 3 });
  });

  it('is reached when votes of an earlier period are released later', async () => {
    const { cast, set, rounds, progress, deps, serverId } = bench;
    await set(3, 'day');
    const quarantineId = await openQuarantine(deps, serverId, 'One network.');
    const held = { excludedBy: [quarantineId], excludedAt: START, quarantinedAt: START };
    await deps.votes.insertMany(['a', 'b'].map((name) => storedVote(serverId, name, START, held)));
    await cast(1);
    deps.clock.move(2 * DAY);
    await cast(2);
    await look();
    expect(await rounds()).toEqual([]);

    await requestInclusion(deps, quarantineId, 'op@example.org', { wakesWorker: false });
    await finishExclusion(deps, quarantineId, recounting(deps));
    await look();
    expect([await rounds(), await progress()]).toEqual([['2026-11-21'], { votes: 2, timesReached: 1 }]);
  });
});

describe('when operators change votes', () => {
  it('a look between the call and the change does not hide the change', async () => {
    const { cast, set, rounds, progress, deps } = bench;
    await set(5, 'rolling');
    await cast(4);
    deps.clock.move(MINUTE);
    await look();
    const { beforeChange, settledMs } = recounting(deps);
    await excludeAll({
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
    await excludeAll({
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
    const { _id } = await excludeAll();
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
    await excludeAll();
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
            if (!marked) await excludeAll();
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

describe('rounds', () => {
  it('wait for their event until it is stored', async () => {
    const { cast, set, deps, serverId } = bench;
    const goalId = await set(5, 'rolling');
    await cast(10);
    await look();
    const waiting = await unannouncedRounds(deps);
    expect(waiting).toMatchObject([
      { goalId, serverId, round: '1', target: 5, period: 'rolling', votes: 10 },
      { goalId, serverId, round: '2', target: 5, period: 'rolling', votes: 10 },
    ]);
    await markAnnounced(deps, waiting.slice(0, 1));
    expect((await unannouncedRounds(deps)).map(({ round }) => round)).toEqual(['2']);
    await look();
    expect(await unannouncedRounds(deps)).toHaveLength(1);
  });
});
