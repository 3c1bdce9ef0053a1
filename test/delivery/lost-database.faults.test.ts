import { expect, it, onTestFinished, vi } from 'vitest';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { deliveryBench, drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';

/** A second process on the database of a bench, whose connections to MongoDB can be cut. */
async function depsOnLine() {
  const bench = await deliveryBench({ LEASE_MS: '60000' });
  const { config } = bench.deps;
  const line = await startFaultProxy(Number(new URL(config.MONGODB_URI).port), 'mongodb');
  const worker = await openAppDeps({ ...config, MONGODB_URI: line.through(config.MONGODB_URI) }, 'worker');
  onTestFinished(async () => {
    await worker.close();
    await line.close();
  });
  const leaseNow = async () =>
    (await bench.deps.listeners.findOne({ serverId: bench.serverId }))?.lease ?? null;
  return { bench, worker, line, leaseNow };
}

it('a drain that lost MongoDB releases its lease as soon as MongoDB is back', {
  timeout: 60_000,
}, async () => {
  const { bench, worker, line, leaseNow } = await depsOnLine();
  await bench.cast('Steve');
  const failures = vi.spyOn(worker.batcher, 'load').mock.settledResults;
  const cut = line.cutBeforeNext(mongoCommand('find', 'votes'), () => line.refuse());
  const draining = expect(drainHere(worker, bench.serverId)).rejects.toThrow();
  await cut.catch(() => undefined);
  expect(await leaseNow()).not.toBeNull();
  // The search for votes fails first, then the release.
  await vi.waitUntil(() => failures.filter(({ type }) => type === 'rejected').length >= 2, EVENTUALLY);
  await line.restore();
  await draining;
  expect(await leaseNow()).toBeNull();
});

it('a lease is released even if MongoDB’s answer to its take was lost', async () => {
  const { bench, worker, line, leaseNow } = await depsOnLine();
  await bench.cast('Steve');
  // The driver itself tries once more.
  const answers = [1, 2].map(() => line.cutAfterNext(mongoCommand('findAndModify', 'listeners')));
  await expect(drainHere(worker, bench.serverId)).rejects.toThrow();
  await Promise.all(answers);
  expect(await leaseNow()).toBeNull();
});

it('if MongoDB fails while votes are taken, they are due again as if they had not been taken', async () => {
  const { bench, worker, line } = await depsOnLine();
  const vote = await bench.cast('Steve');
  const warnings = vi.fn();
  const log = Object.assign(Object.create(worker.log), { child: () => log, warn: warnings });
  const lost = line.cutAfterNext(mongoCommand('update', 'votes', 'leaseUntil'), () => line.refuse());
  const draining = expect(drainHere({ ...worker, log }, bench.serverId)).rejects.toThrow();
  await lost.catch(() => undefined);
  expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'sending' });
  const isNotReleased = ([{ event }]: [{ event: string }]) => event === 'delivery.not_released';
  await vi.waitUntil(() => (warnings.mock.calls as [{ event: string }][]).some(isNotReleased), EVENTUALLY);
  await line.restore();
  await draining;
  expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'waiting', attempts: [] });
  await bench.drain();
  expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'delivered', attemptCount: 1 });
  expect(bench.listener.votes).toHaveLength(1);
}, 60_000);
