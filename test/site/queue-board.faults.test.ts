import { expect, onTestFinished, test, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedis } from '../support/services.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp } from '../support/web-app.ts';

test('without Redis the admin area says so, and Bull Board answers 503 at once', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const web = await openWebApp({ REDIS_URL: redis.url });
  const operator = await signIn(web, { role: 'operator' });
  const headers = { ...OWN_ORIGIN, ...operator.headers };
  const queues = () => web.app.inject({ url: '/operator/queues/api/queues', headers });
  await vi.waitUntil(async () => (await queues()).statusCode === 200, EVENTUALLY);

  // While Redis is suspended, Bull Board answers.
  await redis.pause();
  expect((await queues()).statusCode).toBe(503);
  redis.resume();
  await redis.kill();
  await vi.waitUntil(() => web.deps.producerRedis.status !== 'ready', EVENTUALLY);
  const pressed = await web.app.inject({ method: 'PUT', url: '/operator/queues/api/queues/pause', headers });
  expect(pressed.statusCode).toBe(503);
  expect(pressed.json()).toEqual({
    error: expect.stringContaining('Redis does not answer'),
    code: 'queues-unavailable',
  });
  expect(await web.deps.auditLog.countDocuments({ action: 'queue.button' })).toBe(0);
  expect((await getPage(web, '/operator/queues', headers)).statusCode).toBe(200);
  const page = await getPage(web, '/operator', headers);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('Redis does not answer.');
});
