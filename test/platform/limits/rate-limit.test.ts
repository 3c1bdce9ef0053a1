import { expect, test } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { takeAll } from '../../../src/platform/limits/by-network.ts';
import {
  refund,
  takeAllOrNone,
  useAllowance,
  useAllowances,
} from '../../../src/platform/limits/rate-limit.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const TWICE = { times: 2, windowMs: MINUTE };

test('uses are refused above the limit until the window of the first one ends', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const resetAt = new Date(clock.now().getTime() + MINUTE);
  const use = () => useAllowance(deps, 'a', TWICE);
  expect([await use(), await use(), await use(), await use()]).toEqual([null, null, resetAt, resetAt]);
  expect(await useAllowance(deps, 'b', TWICE)).toBeNull();
  clock.move(MINUTE);
  expect(await use()).toBeNull();
});

test('a refused use is not counted, so a use that is given back can be taken', async () => {
  const deps = await testDeps();
  const use = () => useAllowance(deps, 'a', TWICE);
  await use();
  await use();
  expect(await use()).not.toBeNull();
  await refund(deps, 'a');
  expect(await use()).toBeNull();
  expect(await use()).not.toBeNull();
});

test('of several uses as many are granted as are left, also when calls race', async () => {
  const deps = await testDeps();
  const granted = await Promise.all(
    [3, 3, 3].map((wanted) => useAllowances(deps, 'a', { times: 7, windowMs: MINUTE }, wanted)),
  );
  expect(granted.map(({ taken }) => taken).toSorted()).toEqual([1, 3, 3]);
});

test('if several limits are used up, the answer is the one that allows a use last', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const limit = (key: string, times = 1) => ({ key, allowance: { times, windowMs: MINUTE } });
  const limits = [limit('free', 2), limit('narrow'), limit('wide'), limit('unused')];
  await useAllowance(deps, 'narrow', limit('narrow').allowance);
  clock.move(MINUTE / 2);
  await useAllowance(deps, 'wide', limit('wide').allowance);
  const until = new Date(clock.now().getTime() + MINUTE);
  expect(await takeAllOrNone(deps, limits)).toEqual({ limit: limits[2], until });
  expect(await takeAll(deps, limits)).toEqual(until);
  // Neither call counted a use of the limits after the one that refused.
  expect(await takeAll(deps, limits.slice(3))).toBeNull();
  clock.move(MINUTE / 2);
  expect(await takeAllOrNone(deps, limits.slice(0, 3))).toEqual({ limit: limits[2], until });
  clock.move(MINUTE / 2);
  expect(await takeAllOrNone(deps, limits.slice(0, 3))).toBeNull();
});
