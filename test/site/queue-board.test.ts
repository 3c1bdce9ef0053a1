import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PATIENT } from '../support/patient.ts';
import { startRedis } from '../support/services.ts';
import { getPage, OWN_ORIGIN, signedIn, signedInAs, webApp } from './web-app.ts';

/** Every route of Bull Board's API, its parameters filled in. */
const BOARD_API = appRoutes.api.map(({ method, route }) => ({
  method: [method].flat().join().toUpperCase() as 'GET' | 'PUT' | 'POST' | 'PATCH',
  url: `/operator/queues${[route].flat()[0]}`
    .replace(':queueName', 'forward-votes')
    .replace(':jobId', '1')
    .replace(':queueStatus', 'failed')
    .replace(':schedulerId', '1'),
}));

test('every route of Bull Board answers a stranger with 401, and an owner with 404', async () => {
  const web = await webApp();
  const owner = await signedInAs(web, 'owner');
  for (const { method, url } of BOARD_API) {
    const answer = await web.app.inject({ method, url, headers: OWN_ORIGIN });
    expect(answer.statusCode, url).toBe(401);
    expect(answer.json(), url).toMatchObject({ message: 'Sign in at /sign-in first.' });
    const refused = await web.app.inject({ method, url, headers: { ...OWN_ORIGIN, ...owner.headers } });
    expect(refused.statusCode, url).toBe(404);
  }
});

test('every button of Bull Board pressed from another site is refused, signed in or not', async () => {
  const web = await webApp();
  const cookie = await signedIn(web);
  const buttons = BOARD_API.filter(({ method }) => method !== 'GET');
  expect(buttons.length).toBeGreaterThan(15);
  for (const { method, url } of buttons) {
    for (const headers of [{ origin: 'https://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }, {}]) {
      const answer = await web.app.inject({ method, url, headers: { ...cookie, ...headers } });
      expect(answer.statusCode, `${url} ${JSON.stringify(headers)}`).toBe(403);
    }
  }
});

test("Bull Board's page asks nobody else for anything", async () => {
  const web = await webApp();
  const headers = await signedIn(web);
  const page = await getPage(web, '/operator/queues', headers);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('Tallyport queues');
  expect(page.body.match(/https?:\/\/[^"\s]+/g) ?? []).toEqual([]);
  expect(page.headers['content-security-policy']).not.toMatch(/https?:/);
  const [script] = page.body.match(/static\/js\/main\.\w+\.js/) ?? [];
  expect((await web.app.inject({ url: `/operator/queues/${script}`, headers })).statusCode).toBe(200);
  expect((await web.app.inject({ url: `/operator/queues/${script}` })).statusCode).toBe(401);
});

test('without Redis the desk says so, and Bull Board answers at once that nothing can be done', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const web = await webApp({ REDIS_URL: redis.url });
  const headers = { ...OWN_ORIGIN, ...(await signedIn(web)) };
  const queues = () => web.app.inject({ url: '/operator/queues/api/queues', headers });
  await vi.waitUntil(async () => (await queues()).statusCode === 200, PATIENT);

  redis.pause();
  const started = performance.now();
  const silent = await queues();
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(silent.statusCode).toBe(503);
  redis.resume();
  await redis.kill();
  await vi.waitUntil(() => web.platform.producerRedis.status !== 'ready', PATIENT);
  const pressed = await web.app.inject({ method: 'PUT', url: '/operator/queues/api/queues/pause', headers });
  expect(pressed.statusCode).toBe(503);
  expect(pressed.json()).toEqual({ error: expect.stringContaining('Redis does not answer') });
  expect((await getPage(web, '/operator/queues', headers)).statusCode).toBe(200);
  const desk = await getPage(web, '/operator', headers);
  expect(desk.statusCode).toBe(200);
  expect(desk.body).toContain('Redis does not answer.');
});
