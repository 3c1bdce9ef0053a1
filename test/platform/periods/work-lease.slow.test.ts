import { expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { lastCompleted, withLease } from '../../../src/platform/periods/work-lease.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testPlatform } from '../../support/test-platform.ts';

const SHORT = { LEASE_MS: '3200', LISTENER_TIMEOUT_MS: '300' };

it('lets one run at a time do the work, and finally all of them', async () => {
  const platform = await testPlatform();
  let running = 0;
  let most = 0;
  const run = async () => {
    running += 1;
    most = Math.max(most, running);
    await platform.servers.countDocuments();
    running -= 1;
    return 1;
  };
  const runs = await Promise.all(Array.from({ length: 8 }, () => withLease(platform, 'counting', run)));
  expect({ runs: runs.length, most }).toEqual({ runs: 8, most: 1 });
  expect(await lastCompleted(platform, 'counting')).toBeInstanceOf(Date);
});

it('is renewed for as long as the work takes', async () => {
  const platform = await testPlatform(SHORT);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const long = withLease(platform, 'long', () => end);
  const at = async () => (await platform.workLeases.findOne({ work: 'long' }))?.holder?.until.getTime();
  await expect.poll(at).toBeGreaterThan(0);
  const first = (await at()) ?? 0;
  await expect.poll(at).toBeGreaterThan(first + platform.config.LEASE_MS);
  resolve();
  await long;
  expect((await platform.workLeases.findOne({ work: 'long' }))?.holder).toBeNull();
});

it('stops a run that has lost its lease: it writes nothing more and marks nothing as done', async () => {
  const platform = await testPlatform(SHORT);
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const run = withLease(platform, 'lost', async (lease) => {
    lease.throwIfLost();
    // Another run takes it, as after a pause of this process.
    await platform.workLeases.updateOne({ work: 'lost' }, { $set: { holder: null } });
    lease.signal.addEventListener('abort', () => resolve());
    await lost;
    lease.throwIfLost();
  });
  await expect(run).rejects.toMatchObject({ code: 'lease-lost' });
  expect(await lastCompleted(platform, 'lost')).toBeNull();
});

it('is taken over from an owner that died, once it has expired by mongod’s clock', async () => {
  const platform = await testPlatform(SHORT);
  await withLease(platform, 'dead', async () => undefined);
  await platform.workLeases.updateOne({ work: 'dead' }, [
    { $set: { holder: { id: '$_id', until: { $add: ['$$NOW', SECOND] } } } },
  ]);
  const began = performance.now();
  await withLease(platform, 'dead', async () => undefined);
  expect(performance.now() - began).toBeGreaterThan(0.9 * SECOND);
});

it('begins when the run gets the lease, not when it starts to wait', async () => {
  const clock = stoppedClock(new Date('2026-11-21T12:00:00Z'));
  const platform = { ...(await testPlatform()), clock };
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const first = withLease(platform, 'waited-for', () => end);
  await expect.poll(() => platform.workLeases.findOne({ work: 'waited-for' })).toMatchObject({ holder: {} });
  const second = withLease(platform, 'waited-for', async () => undefined);
  clock.move(MINUTE);
  resolve();
  await Promise.all([first, second]);
  expect(await lastCompleted(platform, 'waited-for')).toEqual(new Date('2026-11-21T12:01:00Z'));
});

it('stops waiting when it is aborted', async () => {
  const platform = await testPlatform();
  const stop = new AbortController();
  await withLease(platform, 'held', async () => {
    const waiting = withLease(platform, 'held', async () => 1, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow();
  });
});
