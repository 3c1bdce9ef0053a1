import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { QUEUE_NAMES } from '../../src/platform/queues.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { healthRoutes, readiness, watchReadiness } from '../../src/process/health.ts';
import { setRestore } from '../backup/restoring.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';

const NOT_STOPPING = new AbortController().signal;

async function ask(deps: AppDeps, path: string, stopping = NOT_STOPPING) {
  const app = Fastify();
  onTestFinished(() => app.close());
  await app.register(healthRoutes, { readiness: watchReadiness(deps, stopping) });
  return app.inject(path);
}

test('a process with all it needs is ready', async () => {
  const deps = await testDeps();
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  const answer = await ask(deps, '/readyz');
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    ready: true,
    degraded: false,
    checks: { mongodb: 'ok', restore: 'ok', indexes: 'ok', clock: 'ok', redis: 'ok' },
  });
});

test('without a unique index a process is not ready, and the missing one is named', async () => {
  const deps = await testDeps();
  await deps.votes.dropIndex('serverId_1_usernameKey_1_seq_1');
  const { ready, checks } = await readiness(deps);
  expect(ready).toBe(false);
  expect(checks.indexes).toBe('missing votes.serverId_1_usernameKey_1_seq_1: run `tallyport migrate`');
  await migrateDatabase(deps.mongo);
});

test('while a restore is unfinished a process is not ready, and says which command finishes it', async () => {
  const deps = await testDeps();
  await setRestore(deps, {});
  await deps.votes.dropIndex('serverId_1_usernameKey_1_seq_1');
  const answer = await ask(deps, '/readyz');
  expect(answer.statusCode).toBe(503);
  // Not `tallyport migrate`, which refuses the database.
  expect(answer.json()).toMatchObject({
    error:
      'Not ready: a restore into this database has not ended: wait for it, or run `tallyport restore` with the same backup again.',
    checks: { mongodb: 'ok', clock: 'ok' },
  });
  await setRestore(deps, { finishedAt: new Date() });
  await migrateDatabase(deps.mongo);
  expect((await ask(deps, '/readyz')).statusCode).toBe(200);
});

test('when the check of the restore fails, that is the reason, and the indexes are not known', async () => {
  const deps = await testDeps();
  vi.spyOn(deps.restores, 'findOne').mockRejectedValue(new Error('not primary'));
  const answer = await ask(deps, '/readyz');
  expect(answer.json()).toMatchObject({
    error: 'Not ready: MongoDB does not say whether a restore has ended.',
    checks: {
      mongodb: 'ok',
      restore: 'MongoDB does not say whether a restore has ended',
      indexes: 'not known, see restore',
      clock: 'ok',
    },
  });
});

test('with an empty database a process is not ready', async () => {
  const deps = await testDeps();
  await deps.mongo.db.dropDatabase();
  expect((await ask(deps, '/readyz')).statusCode).toBe(503);
});

test.each([
  ['5000', /this machine's clock is [45]\.\d s ahead of MongoDB's/],
  ['-5000', /this machine's clock is 5\.\d s behind MongoDB's/],
])('with a clock that is %s ms off a process is not ready', async (offset, sentence) => {
  const deps = await testDeps({ CLOCK_OFFSET_MS: offset });
  const { ready, checks } = await readiness(deps);
  expect(ready).toBe(false);
  // A busy machine needs some time to read both clocks.
  expect(checks.clock).toMatch(sentence);
});

test('a clock that is a second off is accepted', async () => {
  expect((await readiness(await testDeps({ CLOCK_OFFSET_MS: '1000' }))).ready).toBe(true);
});

test('a process that is stopping is not ready', async () => {
  const answer = await ask(await testDeps(), '/readyz', AbortSignal.abort());
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ error: 'This process is stopping.', ready: false });
});

test('a hundred concurrent checks query the services once', async () => {
  const deps = await testDeps();
  const asked = vi.spyOn(deps.producerRedis, 'exists');
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  const readiness = watchReadiness(deps, NOT_STOPPING);
  await Promise.all(Array.from({ length: 100 }, readiness));
  expect(asked).toHaveBeenCalledTimes(QUEUE_NAMES.length);
});
