import { expect, test } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { refund, useAllowance, useAllowances } from '../../../src/platform/limits/rate-limit.ts';
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
