import { expect, it, onTestFinished, vi } from 'vitest';
import { DELIVERY_QUEUES } from '../../src/listeners/delivery-queues.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { initiate, primaryOf } from '../support/replica-set.ts';
import { startMongod } from '../support/services.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, type GameServer, SHORT_WAITS } from './game-server.ts';

/** A worker whose connections to MongoDB can be cut. */
async function workerOnLine({ config }: AppDeps) {
  const line = await startFaultProxy(Number(new URL(config.MONGODB_URI).port), 'mongodb');
  onTestFinished(() => line.close());
  return { line, worker: await startWorker({ ...config, MONGODB_URI: line.through(config.MONGODB_URI) }) };
}

/** Casts a vote for each server and waits until all are delivered. */
async function castAndDeliver(servers: GameServer[], username: string): Promise<void> {
  const votes = await Promise.all(servers.map((server) => server.cast(username)));
  await vi.waitFor(async () => {
    for (const [i, vote] of votes.entries())
      expect((await servers[i]?.delivery(vote))?.state).toBe('delivered');
  }, EVENTUALLY);
}

it('if a worker loses MongoDB, its job ends with its lease, and another worker sends the later votes', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  const { line, worker } = await workerOnLine(deps);
  alpha.listener.stall();
  const first = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, EVENTUALLY);
  await line.refuse();
  // The listener acknowledges the vote, and the worker cannot record it.
  alpha.listener.release();
  await worker.waitForEvent('delivery.not_recorded');

  await startWorker(deps.config);
  await castAndDeliver([alpha], 'Alex');
  // The listener has both votes. The first one may have arrived twice, as its timeline says.
  expect(new Set(alpha.listener.votes.map(({ username }) => username))).toEqual(new Set(['Steve', 'Alex']));
  await line.restore();
  await vi.waitUntil(async () => (await alpha.delivery(first)).state === 'delivered', EVENTUALLY);
}, 90_000);

it('a worker takes no jobs while it cannot reach MongoDB, and takes them again later', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const servers = await Promise.all(
    ['Alpha', 'Beta', 'Gamma', 'Delta'].map((name) => addGameServer(deps, { name })),
  );
  const { line, worker } = await workerOnLine(deps);
  await line.refuse();
  await worker.waitForEvent('mongodb.away');
  const other = await startWorker(deps.config);
  for (const username of ['Steve', 'Alex', 'Noor']) await castAndDeliver(servers, username);
  // Each BullMQ worker may have been taking one job at that moment.
  const postponed = worker.lines.filter(({ event }) => event === 'job.postponed').map(({ queue }) => queue);
  for (const queue of DELIVERY_QUEUES)
    expect(postponed.filter((name) => name === queue).length).toBeLessThanOrEqual(1);

  await other.stop();
  await line.restore();
  await castAndDeliver(servers, 'Last');
}, 90_000);

it('a replica set that hangs counts as away until it answers', async () => {
  const mongod = await startMongod({ args: ['--replSet', 'rs'] });
  onTestFinished(() => mongod.stop());
  const line = await startFaultProxy(mongod.port, 'mongodb');
  onTestFinished(() => line.close());
  await initiate('rs', mongod.port, [`127.0.0.1:${line.port}`], 1_000);
  await primaryOf([mongod.port]);
  const deps = await castingDeps({
    MONGODB_URI: `mongodb://127.0.0.1:${mongod.port}/tallyport?directConnection=true`,
  });
  const alpha = await addGameServer(deps);
  const MONGODB_URI = `mongodb://127.0.0.1:${line.port}/tallyport?replicaSet=rs`;
  const worker = await startWorker({ ...deps.config, MONGODB_URI });
  await castAndDeliver([alpha], 'Steve');
  line.hang();
  await worker.waitForEvent('mongodb.away');
  await line.restore();
  await worker.waitForEvent('mongodb.back');
  await castAndDeliver([alpha], 'Alex');
}, 90_000);
