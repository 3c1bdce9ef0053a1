import { expect, it } from 'vitest';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { countGoal, watchedGoals } from '../../src/goals/count-goal.ts';
import { readGoalProgress } from '../../src/goals/goal-progress.ts';
import { unannouncedRounds } from '../../src/goals/goal-rounds.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { newFolder } from '../backup/new-folder.ts';
import { restoreInto } from '../backup/restoring.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';
import { goalBench } from './goals.ts';

it('a restore announces no round that its votes reach, and the next one as usual', async () => {
  const { deps, serverId, set, cast } = await goalBench(new Date('2026-11-21T10:00:00Z'));
  await set(5, 'rolling');
  await cast(5);
  await countGoal(deps, serverId);
  // Reached before the backup, and stored only after it.
  await cast(6);
  const folder = await newFolder();
  await takeBackup(deps, folder);

  const restored = { ...(await testDeps()), clock: stoppedClock(after(deps.clock.now(), MINUTE)) };
  await restoreInto(restored, folder);
  expect(await watchedGoals(restored)).toMatchObject([{ isDue: true }]);
  const fresh = [1, 2, 3, 4].map((n) => storedVote(serverId, `later${n}`, restored.clock.now()));
  await restored.votes.insertMany(fresh);
  await countGoal(restored, serverId);
  expect((await unannouncedRounds(restored)).map(({ round }) => round)).toEqual(['3']);
  expect(await restored.goalRounds.countDocuments()).toBe(3);
  expect(await readGoalProgress(restored, serverId)).toMatchObject({ votes: 0, timesReached: 3 });
  expect(await watchedGoals(restored)).toMatchObject([{ isDue: false }]);
});
