import { expect, onTestFinished, test } from 'vitest';
import { HOUR, SECOND } from '../../src/platform/clock.ts';
import { watchClockSkew } from '../../src/platform/clock-skew.ts';
import { freshNames } from '../support/databases.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { movableClock } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';

test('a step of the clock shows in the next call, and so does its correction', async () => {
  const { mongo } = await testDeps();
  const clock = movableClock();
  const skew = watchClockSkew(mongo.db, clock);
  expect(await skew()).toBe(0);
  clock.move(HOUR);
  expect((await skew()) / SECOND).toBeCloseTo(HOUR / SECOND, 0);
  clock.move(-2 * HOUR);
  expect((await skew()) / SECOND).toBeCloseTo(-HOUR / SECOND, 0);
  clock.move(HOUR);
  expect(await skew()).toBe(0);
});

test('a late answer of MongoDB is not a skew; no answer is a failure', async () => {
  const { mongodbUri } = freshNames();
  const proxy = await startFaultProxy(Number(new URL(mongodbUri).port), 'mongodb');
  onTestFinished(() => proxy.close());
  const { mongo } = await testDeps({ MONGODB_URI: proxy.through(mongodbUri) });
  const clock = movableClock();
  clock.move(3 * SECOND);
  proxy.delay(2_500);
  // Half of the delay may be between the two readings of the clocks.
  expect(await watchClockSkew(mongo.db, clock)()).toBe(0);
  await proxy.restore();
  await proxy.refuse();
  await expect(watchClockSkew(mongo.db, clock)()).rejects.toThrow();
});
