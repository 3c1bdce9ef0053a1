import { expect, test } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { takeAll } from '../../../src/platform/limits/by-network.ts';
import {
  refund,
  takeAllOrNone,
  useAllowance,
  useAllowances,
} from '../../../src/platform/limits/rate-limit.ts';
import { limitOfTest } from '../../support/limits.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const TWICE = limitOfTest('a', 2);

test('uses are refused above the limit until the window of the first one ends', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const resetAt = new Date(clock.now().getTime() + MINUTE);
  const use = () => useAllowance(deps, TWICE);
  expect([await use(), await use(), await use(), await use()]).toEqual([null, null, resetAt, resetAt]);
  expect(await useAllowance(deps, limitOfTest('b', 2))).toBeNull();
  clock.move(MINUTE);
  expect(await use()).toBeNull();
});

test('a refused use is not counted, so a use that is given back can be taken', async () => {
  const deps = await testDeps();
  const use = () => useAllowance(deps, TWICE);
  await use();
  await use();
  expect(await use()).not.toBeNull();
  await refund(deps, TWICE);
  expect(await use()).toBeNull();
  expect(await use()).not.toBeNull();
});

test('of several uses as many are granted as are left, also when calls race', async () => {
  const deps = await testDeps();
  const granted = await Promise.all(
    [3, 3, 3].map((wanted) => useAllowances(deps, limitOfTest('a', 7), wanted)),
  );
  expect(granted.map(({ taken }) => taken).toSorted()).toEqual([1, 3, 3]);
});

test('if several limits are used up, the answer is the one that allows a use last', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const [narrow, wide] = [limitOfTest('narrow', 1), limitOfTest('wide', 1)];
  const limits = [limitOfTest('free', 2), narrow, wide, limitOfTest('unused', 1)];
  await useAllowance(deps, narrow);
  clock.move(MINUTE / 2);
  await useAllowance(deps, wide);
  const until = new Date(clock.now().getTime() + MINUTE);
  expect(await takeAllOrNone(deps, limits)).toEqual({ limit: wide, until });
  expect(await takeAll(deps, limits)).toEqual(until);
  // Neither call counted a use of the limits after the one that refused.
  expect(await takeAll(deps, limits.slice(3))).toBeNull();
  clock.move(MINUTE / 2);
  expect(await takeAllOrNone(deps, limits.slice(0, 3))).toEqual({ limit: wide, until });
  clock.move(MINUTE / 2);
  expect(await takeAllOrNone(deps, limits.slice(0, 3))).toBeNull();
});
