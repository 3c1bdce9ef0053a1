import { appRoutes } from '@bull-board/api/dist/routes.js';
import { beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../src/platform/log.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, openWebAppOn, type WebApp } from '../support/web-app.ts';

/** Every route of Bull Board's API, with values for its parameters. */
const BOARD_API = appRoutes.api.map(({ method, route }) => ({
  method: [method].flat().join().toUpperCase() as 'GET' | 'PUT' | 'POST' | 'PATCH',
  url: `/operator/queues${[route].flat()[0]}`
    .replace(':queueName', 'forward-votes')
    .replace(':jobId', '1')
    .replace(':queueStatus', 'failed')
    .replace(':schedulerId', '1'),
}));

let web: WebApp;
let operator: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
});

test('every route of Bull Board answers 401 without a session and 404 to owners', async () => {
  const owner = await signIn(web);
  const { doc_url: _, ...unknownPath } = (await web.app.inject({ url: '/operator/nothing-here' })).json();
  for (const { method, url } of BOARD_API) {
    const answer = await web.app.inject({ method, url, headers: OWN_ORIGIN });
    expect(answer.statusCode, url).toBe(401);
    expect(answer.json(), url).toMatchObject({ code: 'unauthorized', error: 'Sign in at /sign-in first.' });
    const refused = await web.app.inject({ method, url, headers: { ...OWN_ORIGIN, ...owner.headers } });
    const { doc_url: _, ...body } = refused.json();
    expect([refused.statusCode, body], url).toEqual([404, unknownPath]);
  }
});

test('Bull Board’s buttons refuse requests of other sites, and the audit log records none', async () => {
  const buttons = BOARD_API.filter(({ method }) => method !== 'GET');
  expect(buttons.length).toBeGreaterThan(15);
  const before = await web.deps.auditLog.countDocuments({ action: 'queue.button' });
  for (const { method, url } of buttons) {
    for (const headers of [{ origin: 'https://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }, {}]) {
      const answer = await web.app.inject({ method, url, headers: { ...operator.headers, ...headers } });
      expect(answer.statusCode, `${url} ${JSON.stringify(headers)}`).toBe(403);
    }
  }
  expect(await web.deps.auditLog.countDocuments({ action: 'queue.button' })).toBe(before);
});

test('each button of Bull Board is recorded in the audit log with its user before it runs', async () => {
  const press = (method: 'PUT' | 'POST', path: string) =>
    web.app.inject({
      method,
      url: `/operator/queues/api/queues/${path}`,
      headers: { ...operator.headers, ...OWN_ORIGIN },
    });
  expect((await press('PUT', 'forward-votes/retry/failed')).statusCode).toBe(200);
  // A refused request is not written to the audit log.
  expect((await press('POST', 'forward-votes/add')).statusCode).toBe(403);
  const entries = await web.deps.auditLog.find({ action: 'queue.button' }).toArray();
  expect(entries).toMatchObject([
    {
      by: operator.email,
      serverId: null,
      details: { queueName: 'forward-votes', queueStatus: 'failed', button: 'retry/failed' },
    },
  ]);
  const { body } = await getPage(web, '/operator/audit?action=queue.button', operator.headers);
  expect(body).toContain('Used a queue button: forward-votes: retry/failed');
});

test("Bull Board's page loads nothing from other hosts", async () => {
  const page = await getPage(web, '/operator/queues', operator.headers);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('Tallyport queues');
  expect(page.body.match(/https?:\/\/[^"\s]+/g) ?? []).toEqual([]);
  expect(page.headers['content-security-policy']).not.toMatch(/https?:/);
  const [script] = page.body.match(/static\/js\/main\.\w+\.js/) ?? [];
  expect((await getPage(web, `/operator/queues/${script}`, operator.headers)).statusCode).toBe(200);
  expect((await web.app.inject({ url: `/operator/queues/${script}` })).statusCode).toBe(401);
});

test('the log names only the buttons that an operator pressed', async () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const app = await openWebAppOn({ ...web.deps, log: createLogger({ LOG_LEVEL: 'info' }, 'web', stream) });
  const url = '/operator/queues/api/queues/forward-votes/retry/failed';
  const press = (headers: Record<string, string>) =>
    app.app.inject({ method: 'PUT', url, headers: { ...OWN_ORIGIN, ...headers } });
  expect((await press({})).statusCode).toBe(401);
  expect(lines.join()).not.toContain('operator.queue_button');
  expect((await press(operator.headers)).statusCode).toBe(200);
  await expect.poll(() => lines.join()).toContain('operator.queue_button');
});
