import { expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { lastCompleted, withLease } from '../../../src/platform/periods/work-lease.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const SHORT = { LEASE_MS: '3200', LISTENER_TIMEOUT_MS: '300' };

it('lets one run at a time do the work, and finally all of them', async () => {
  const deps = await testDeps();
  let running = 0;
  let most = 0;
  const run = async () => {
    running += 1;
    most = Math.max(most, running);
    await deps.servers.countDocuments();
    running -= 1;
    return 1;
  };
  const runs = await Promise.all(Array.from({ length: 8 }, () => withLease(deps, 'counting', run)));
  expect({ runs: runs.length, most }).toEqual({ runs: 8, most: 1 });
  expect(await lastCompleted(deps, 'counting')).toBeInstanceOf(Date);
});

it('is renewed for as long as the work takes', async () => {
  const deps = await testDeps(SHORT);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const long = withLease(deps, 'long', () => end);
  const at = async () => (await deps.workLeases.findOne({ work: 'long' }))?.holder?.until.getTime();
  await expect.poll(at).toBeGreaterThan(0);
  const first = (await at()) ?? 0;
  await expect.poll(at).toBeGreaterThan(first + deps.config.LEASE_MS);
  resolve();
  await long;
  expect((await deps.workLeases.findOne({ work: 'long' }))?.holder).toBeNull();
});

it('stops a run that has lost its lease: it writes nothing more and marks nothing as done', async () => {
  const deps = await testDeps(SHORT);
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const run = withLease(deps, 'lost', async (lease) => {
    lease.throwIfLost();
    // Another run takes it, as after a pause of this process.
    await deps.workLeases.updateOne({ work: 'lost' }, { $set: { holder: null } });
    lease.signal.addEventListener('abort', () => resolve());
    await lost;
    lease.throwIfLost();
  });
  await expect(run).rejects.toMatchObject({ code: 'lease-lost' });
  expect(await lastCompleted(deps, 'lost')).toBeNull();
});

it('is taken over from an owner that died, once it has expired by mongod’s clock', async () => {
  const deps = await testDeps(SHORT);
  await withLease(deps, 'dead', async () => undefined);
  await deps.workLeases.updateOne({ work: 'dead' }, [
    { $set: { holder: { id: '$_id', until: { $add: ['$$NOW', SECOND] } } } },
  ]);
  const began = performance.now();
  await withLease(deps, 'dead', async () => undefined);
  expect(performance.now() - began).toBeGreaterThan(0.9 * SECOND);
});

it('begins when the run gets the lease, not when it starts to wait', async () => {
  const clock = stoppedClock(new Date('2026-11-21T12:00:00Z'));
  const deps = { ...(await testDeps()), clock };
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const first = withLease(deps, 'waited-for', () => end);
  await expect.poll(() => deps.workLeases.findOne({ work: 'waited-for' })).toMatchObject({ holder: {} });
  const second = withLease(deps, 'waited-for', async () => undefined);
  clock.move(MINUTE);
  resolve();
  await Promise.all([first, second]);
  expect(await lastCompleted(deps, 'waited-for')).toEqual(new Date('2026-11-21T12:01:00Z'));
});

it('stops waiting when it is aborted', async () => {
  const deps = await testDeps();
  const stop = new AbortController();
  await withLease(deps, 'held', async () => {
    const waiting = withLease(deps, 'held', async () => 1, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow();
  });
});
