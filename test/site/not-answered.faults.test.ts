import { expect, onTestFinished, test, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedis } from '../support/services.ts';
import { getPage, textOf } from '../support/web-app.ts';
import { openOwnerApp, ownerFixture } from './owner-fixture.ts';

const AWAY = 'The queue of this listing does not answer';

test('while Redis is away a test vote’s page says so at once, and works again afterwards', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const web = await openOwnerApp({ REDIS_URL: redis.url });
  await vi.waitUntil(() => web.deps.producerRedis.status === 'ready', EVENTUALLY);
  const fixture = await ownerFixture(web);
  const test = async () => {
    const { statusCode, body } = await fixture.post('/listener/test');
    return [statusCode, textOf(body)];
  };

  // Redis dies during a test of a listener: the test ends.
  fixture.listener.stall();
  const testing = test();
  await vi.waitUntil(() => fixture.listener.held === 1, EVENTUALLY);
  await redis.kill();
  expect(await testing).toEqual([200, expect.stringContaining(AWAY)]);
  fixture.listener.release();
  expect(await test()).toEqual([503, expect.stringContaining(AWAY)]);
  expect((await getPage(web, '/')).statusCode).toBe(200);

  await redis.restart();
  await vi.waitFor(async () => {
    await web.deps.diagnosisAllowances.deleteMany({});
    expect(await test()).toEqual([200, expect.stringContaining('The test vote arrived')]);
  }, EVENTUALLY);

  // If Redis is suspended, its connections stay open.
  await redis.pause();
  await web.deps.diagnosisAllowances.deleteMany({});
  expect(await test()).toEqual([503, expect.stringContaining(AWAY)]);
  redis.resume();
});
