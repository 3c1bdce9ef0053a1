import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { healthRoutes, watchReadiness } from '../../src/process/health.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { testDeps } from '../support/test-deps.ts';

async function ask(deps: AppDeps, path: string) {
  const app = Fastify();
  onTestFinished(() => app.close());
  await app.register(healthRoutes, { readiness: watchReadiness(deps, new AbortController().signal) });
  return app.inject(path);
}

test('with Redis killed or suspended, a process is ready and degraded', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const deps = await testDeps({ REDIS_URL: redis.url });
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);

  await redis.pause();
  const silent = await ask(deps, '/readyz');
  expect(silent.statusCode).toBe(200);
  expect(silent.json()).toMatchObject({ ready: true, degraded: true });
  redis.resume();

  await redis.kill();
  const killed = await ask(deps, '/readyz');
  expect(killed.statusCode).toBe(200);
  expect(killed.json().checks.redis).toMatch(/^Redis does not answer/);
});

test('with MongoDB suspended a process is alive and not ready, and answers so within three seconds', async () => {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const deps = await testDeps({ MONGODB_URI: `${mongod.uri}/tallyport` });
  onTestFinished(() => mongod.resume());
  await mongod.pause();

  const order: string[] = [];
  // It is given up after 5 s.
  const operation = deps.mongo.db.command({ ping: 1 }).catch(() => order.push('operation given up'));
  const answer = await ask(deps, '/readyz');
  order.push('answered');
  await operation;
  expect(order).toEqual(['answered', 'operation given up']);
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({
    error: 'Not ready: MongoDB does not answer.',
    code: 'unavailable',
    ready: false,
    checks: { mongodb: 'MongoDB does not answer', redis: 'ok' },
  });
  expect((await ask(deps, '/healthz')).statusCode).toBe(200);

  mongod.resume();
  expect((await ask(deps, '/readyz')).statusCode).toBe(200);
});
