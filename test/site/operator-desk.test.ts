import { appRoutes } from '@bull-board/api/dist/routes.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { PATIENT } from '../support/patient.ts';
import { startRedis } from '../support/services.ts';
import { addOwnedServer } from './owned-server.ts';
import {
  getPage,
  OWN_ORIGIN,
  openWebApp,
  type SignedInPerson,
  signedIn,
  signedInAs,
  webApp,
} from './web-app.ts';

let web: Awaited<ReturnType<typeof openWebApp>>;
let operator: SignedInPerson;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signedInAs(web, 'operator');
});
afterAll(() => web.close());

describe('the desk', () => {
  test('says calmly that nothing needs attention, and shows the queues', async () => {
    const { statusCode, body } = await getPage(web, '/operator', operator.headers);
    expect(statusCode).toBe(200);
    expect(body).toContain('Nothing needs your attention.');
    expect(body).toContain('Forward votes');
    expect(body).toContain('href="/operator/queues"');
  });

  test('leads to each of its parts by tabs, and marks the one that is open', async () => {
    for (const path of ['', '/reviews', '/servers', '/votes', '/audit']) {
      const { body } = await getPage(web, `/operator${path}`, operator.headers);
      const tabs = [...body.matchAll(/<a href="(\/operator[^"]*)" aria-current="page">/g)];
      expect(tabs[0]?.[1], path).toBe(`/operator${path}`);
      expect(body).toContain('href="/operator/people"');
    }
  });

  test('under a path of its own every link begins with it', async () => {
    const placed = await webApp({ PUBLIC_URL: 'http://localhost:3000/listing' });
    const { headers, personId } = await signedInAs(placed, 'operator');
    const serverId = await addOwnedServer(placed.platform, personId);
    for (const path of [
      '',
      '/reviews',
      '/servers',
      `/servers/${serverId}`,
      `/votes?server=${serverId}`,
      '/audit',
    ]) {
      const { statusCode, body } = await getPage(placed, `/operator${path}`, headers);
      expect(statusCode, path).toBe(200);
      const addresses = [...body.matchAll(/(?:href|src|action|data-hx-get)="([^"#][^"]*)"/g)].map(
        ([, to]) => to,
      );
      expect(addresses.filter((to) => !to?.startsWith('/listing/'))).toEqual([]);
    }
  });

  test('what people typed is escaped on every page', async () => {
    const name = '"><script>alert(1)</script>';
    const serverId = await addOwnedServer(web.platform, operator.personId, { name });
    const q = encodeURIComponent(name);
    for (const path of [
      '/servers',
      `/servers?q=${q}`,
      `/servers/${serverId}`,
      `/votes?server=${serverId}&player=${q}`,
      `/votes?server=${q}&since=${q}`,
      `/votes/exclude?server=${serverId}&since=2026-01-01T00:00`,
      `/audit?by=${q}&action=${q}`,
      `/reviews?state=${q}&from=${q}`,
    ]) {
      const { body } = await getPage(web, `/operator${path}`, operator.headers);
      expect(body, path).not.toContain('<script>alert');
    }
  });
});

/** Every route of Bull Board's API, its parameters filled in. */
const BOARD_API = appRoutes.api.map(({ method, route }) => ({
  method: [method].flat().join().toUpperCase() as 'GET' | 'PUT' | 'POST' | 'PATCH',
  url: `/operator/queues${[route].flat()[0]}`
    .replace(':queueName', 'forward-votes')
    .replace(':jobId', '1')
    .replace(':queueStatus', 'failed')
    .replace(':schedulerId', '1'),
}));

describe('Bull Board', () => {
  test('answers a stranger with 401 on every route', async () => {
    for (const { method, url } of BOARD_API) {
      const answer = await web.app.inject({ method, url, headers: OWN_ORIGIN });
      expect(answer.statusCode, url).toBe(401);
      expect(answer.body, url).toContain('Sign in at /sign-in first.');
    }
  });

  test('takes no button from another site, and writes none of them to the audit log', async () => {
    const buttons = BOARD_API.filter(({ method }) => method !== 'GET');
    expect(buttons.length).toBeGreaterThan(15);
    const before = await web.platform.auditLog.countDocuments({ action: 'queue.button' });
    for (const { method, url } of buttons) {
      for (const headers of [
        { origin: 'https://elsewhere.example' },
        { 'sec-fetch-site': 'cross-site' },
        {},
      ] as Record<string, string>[]) {
        const answer = await web.app.inject({ method, url, headers: { ...operator.headers, ...headers } });
        expect(answer.statusCode, `${url} ${JSON.stringify(headers)}`).toBe(403);
      }
    }
    expect(await web.platform.auditLog.countDocuments({ action: 'queue.button' })).toBe(before);
  });

  test('writes each press to the audit log, by whom, before it does anything', async () => {
    const press = (method: 'PUT' | 'POST', path: string) =>
      web.app.inject({
        method,
        url: `/operator/queues/api/queues/${path}`,
        headers: { ...operator.headers, ...OWN_ORIGIN },
      });
    expect((await press('PUT', 'forward-votes/retry/failed')).statusCode).toBe(200);
    // One that is refused was never pressed.
    expect((await press('POST', 'forward-votes/add')).statusCode).toBe(403);
    const entries = await web.platform.auditLog.find({ action: 'queue.button' }).toArray();
    expect(entries).toMatchObject([
      {
        by: operator.email,
        serverId: null,
        details: { queueName: 'forward-votes', queueStatus: 'failed', button: 'retry/failed' },
      },
    ]);
    const { body } = await getPage(web, '/operator/audit?action=queue.button', operator.headers);
    expect(body).toContain('Pressed a button of the queues: forward-votes: retry/failed');
  });

  test('asks nobody else for anything', async () => {
    const page = await getPage(web, '/operator/queues', operator.headers);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('Tallyport queues');
    expect(page.body.match(/https?:\/\/[^"\s]+/g) ?? []).toEqual([]);
    expect(page.headers['content-security-policy']).not.toMatch(/https?:/);
    const [script] = page.body.match(/static\/js\/main\.\w+\.js/) ?? [];
    expect((await getPage(web, `/operator/queues/${script}`, operator.headers)).statusCode).toBe(200);
    expect((await web.app.inject({ url: `/operator/queues/${script}` })).statusCode).toBe(401);
  });

  test('says at once that nothing can be done while Redis is away, and so does the desk', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const own = await webApp({ REDIS_URL: redis.url });
    const headers = { ...OWN_ORIGIN, ...(await signedIn(own)) };
    const queues = () => own.app.inject({ url: '/operator/queues/api/queues', headers });
    await vi.waitUntil(async () => (await queues()).statusCode === 200, PATIENT);

    redis.pause();
    const started = performance.now();
    expect((await queues()).statusCode).toBe(503);
    expect(performance.now() - started).toBeLessThan(6_000);
    redis.resume();
    await redis.kill();
    await vi.waitUntil(() => own.platform.producerRedis.status !== 'ready', PATIENT);
    const pressed = await own.app.inject({
      method: 'PUT',
      url: '/operator/queues/api/queues/pause',
      headers,
    });
    expect(pressed.statusCode).toBe(503);
    expect(pressed.json()).toEqual({ error: expect.stringContaining('Redis does not answer') });
    expect(await own.platform.auditLog.countDocuments({ action: 'queue.button' })).toBe(0);
    const desk = await getPage(own, '/operator', headers);
    expect(desk.statusCode).toBe(200);
    expect(desk.body).toContain('Redis does not answer.');
  });
});
