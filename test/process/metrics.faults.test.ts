import { expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../../src/process/metrics.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { testDeps } from '../support/test-deps.ts';

test('a scrape is answered within three seconds when both services do not answer, and shows it', async () => {
  const [mongod, redis] = await Promise.all([startMongod(), startRedis()]);
  onTestFinished(async () => {
    await Promise.all([mongod.stop(), redis.stop()]);
  });
  const deps = await testDeps({ MONGODB_URI: `${mongod.uri}/tallyport`, REDIS_URL: redis.url });
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  onTestFinished(() => {
    mongod.resume();
    redis.resume();
  });
  await mongod.pause();
  await redis.pause();

  const order: string[] = [];
  // It is given up after 5 s.
  const operation = deps.mongo.db.command({ ping: 1 }).catch(() => order.push('operation given up'));
  const text = await createMetrics(deps).text();
  order.push('answered');
  await operation;
  expect(order).toEqual(['answered', 'operation given up']);
  expect(text).toMatch(/^tallyport_mongodb_up 0$/m);
  expect(text).toMatch(/^tallyport_redis_up 0$/m);
  expect(text).not.toMatch(/^tallyport_waiting_work\{/m);
});
