import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { QUEUE_NAMES } from '../../src/platform/queues.ts';
import { readiness } from '../../src/process/health.ts';
import { createWaitingWork } from '../../src/process/waiting-work.ts';
import { answerNow } from '../../src/workflows/answer-now.ts';
import { startAnswering } from '../support/answering.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { testDeps } from '../support/test-deps.ts';

test('a shard of a Redis Cluster without a primary makes a process degraded, and its queues are named', async () => {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());
  const deps = await testDeps({ REDIS_URL: cluster.url });
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  expect(await readiness(deps)).toMatchObject({ degraded: false, checks: { redis: 'ok' } });

  const { primaries } = cluster;
  const client = new Redis(primaries[0]?.port ?? 0, '127.0.0.1');
  const slots = await Promise.all(
    QUEUE_NAMES.map(async (name) =>
      Number(await client.call('CLUSTER', 'KEYSLOT', deps.queues[name].toKey('meta'))),
    ),
  );
  client.disconnect();
  const shardOf = (slot: number) => Math.floor((slot * primaries.length) / 16_384);
  const dead = shardOf(slots[0] ?? 0);
  const away = QUEUE_NAMES.filter((_, n) => shardOf(slots[n] ?? 0) === dead);
  await primaries[dead]?.kill();

  // All other nodes still answer a ping.
  const { ready, degraded, checks } = await readiness(deps);
  expect({ ready, degraded }).toEqual({ ready: true, degraded: true });
  expect(checks.redis).toMatch(/^Redis does not answer/);
  for (const name of away) expect(checks.redis).toContain(name);
  const counted = await createWaitingWork(deps)();
  expect(counted.redisUp).toBe(false);
});

test('a question is answered on a Redis Cluster', async () => {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());
  const { deps, serverId } = await deliveryBench({ REDIS_URL: cluster.url });
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  startAnswering(deps);
  const steps: string[] = [];
  const ids = { serverId: serverId.toHexString() };
  const ended = await answerNow(deps, 'test-listener', ids, (step) => steps.push(step));
  expect(ended).toMatchObject({ kind: 'answered', result: { kind: 'diagnosed' } });
  expect(steps).toContain('acknowledgement');
});
