import { beforeEach, describe, expect, it } from 'vitest';
import { countGoal } from '../../src/goals/count-goal.ts';
import { markAnnounced, unannouncedRounds } from '../../src/goals/goal-rounds.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { requestInclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { storedVote } from '../support/votes.ts';
import { excludeAll, type GoalBench, goalBench, recounting } from './goals.ts';

/** A Saturday. */
const START = new Date('2026-11-21T10:00:00Z');

let bench: GoalBench;

beforeEach(async () => {
  bench = await goalBench(START);
});

const look = () => countGoal(bench.deps, bench.serverId);

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
    await excludeAll(bench);
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
