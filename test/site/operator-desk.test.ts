import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRedis } from '../support/services.ts';
import { OWN_ORIGIN, PASSWORD, sendPassword, signedIn, webApp } from './web-app.ts';

const PAGE = { accept: 'text/html,application/xhtml+xml' };

test('without OPERATOR_PASSWORD_HASH everything under /operator is 404', async () => {
  const { app } = await webApp({ OPERATOR_PASSWORD_HASH: '' });
  for (const url of [
    '/operator',
    '/operator/',
    '/operator/sign-in',
    '/operator/queues',
    '/operator/queues/api/queues',
  ]) {
    const answer = await app.inject({ url, headers: PAGE });
    expect(answer.statusCode, url).toBe(404);
    expect(answer.json(), url).toEqual({ error: expect.any(String) });
  }
});

test('the right password opens the desk, with a cookie that only this desk gets', async () => {
  const web = await webApp();
  const answer = await sendPassword(web, PASSWORD, { next: '/operator/queues?x=1' });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe('/operator/queues?x=1');
  const [cookie] = answer.cookies;
  expect(cookie).toMatchObject({
    name: 'tallyport_operator',
    path: '/operator',
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: 43_200,
  });
  expect(cookie).not.toHaveProperty('secure');

  const desk = await web.app.inject({ url: '/operator', headers: { ...PAGE, ...(await signedIn(web)) } });
  expect(desk.statusCode).toBe(200);
  expect(desk.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(desk.body).toContain('href="/operator/queues"');
  expect(desk.body).toMatch(/Signed in until \d+ \w+,? \d\d:\d\d UTC/);
});

test('behind https, and under a path, the cookie is secure and stays under that path', async () => {
  const web = await webApp({ PUBLIC_URL: 'https://example.org/listing' });
  const headers = { origin: 'https://example.org' };
  const answer = await sendPassword(web, PASSWORD, { headers, next: '/operator/queues' });
  expect(answer.headers.location).toBe('/listing/operator');
  expect(answer.cookies[0]).toMatchObject({ path: '/listing/operator', secure: true });
  expect((await web.app.inject('/operator/sign-in')).statusCode).toBe(404);
});

test('a wrong password is refused in words, and gives no cookie', async () => {
  const web = await webApp();
  const answer = await sendPassword(web, 'three ships in the bay!');
  expect(answer.statusCode).toBe(401);
  expect(answer.cookies).toEqual([]);
  expect(answer.body).toContain('<p class="warning" role="alert">That is not the password.</p>');
  expect((await sendPassword(web, '')).statusCode).toBe(401);
  expect((await sendPassword(web, 'x'.repeat(2_000))).statusCode).toBe(401);
});

test('an address has ten tries in ten minutes; another one is not held up', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  for (let n = 0; n < 10; n += 1) {
    expect((await sendPassword(web, 'wrong', from('192.0.2.1'))).statusCode).toBe(401);
  }
  const refused = await sendPassword(web, PASSWORD, from('192.0.2.1'));
  expect(refused.statusCode).toBe(429);
  expect(refused.cookies).toEqual([]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
  expect(refused.body).toContain('Too many tries from your address. Try again in 10 minutes.');
  const script = await sendPassword(web, PASSWORD, {
    headers: { 'x-forwarded-for': '192.0.2.1', accept: '*/*' },
  });
  expect(script.json()).toEqual({ error: 'Too many tries from your address. Try again in 10 minutes.' });
  expect((await sendPassword(web, PASSWORD, from('192.0.2.2'))).statusCode).toBe(303);
}, 60_000);

test('many who sign in at once wait in a short line; the rest are sent away', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      sendPassword(web, PASSWORD, { headers: { 'x-forwarded-for': `192.0.2.${n + 1}` } }),
    ),
  );
  const statuses = answers.map((answer) => answer.statusCode);
  expect(statuses.filter((status) => status === 303)).toHaveLength(10);
  const busy = answers.filter((answer) => answer.statusCode === 503);
  expect(busy).toHaveLength(10);
  expect(busy[0]?.headers['retry-after']).toBe('5');
  expect(busy[0]?.body).toContain('Too many people are signing in at once.');
});

test.each([
  [{ origin: 'https://elsewhere.example' }],
  [{ origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }],
  [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
  [{ origin: 'http://localhost:3001' }],
  [{ origin: 'null' }],
  [{}],
])('a form sent with %j is refused', async (headers) => {
  const { app } = await webApp();
  const answer = await app.inject({
    method: 'POST',
    url: '/operator/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: `password=${encodeURIComponent(PASSWORD)}`,
  });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toEqual({ error: 'This request was not sent by the operator desk itself.' });
});

test.each([
  [{ 'sec-fetch-site': 'same-origin' }],
  [{ origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }],
])('a form sent with %j is ours', async (headers) => {
  const { app } = await webApp();
  const answer = await app.inject({
    method: 'POST',
    url: '/operator/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: `password=${encodeURIComponent(PASSWORD)}`,
  });
  expect(answer.statusCode).toBe(303);
});

test('signing out takes the cookie away', async () => {
  const web = await webApp();
  const cookie = await signedIn(web);
  const answer = await web.app.inject({
    method: 'POST',
    url: '/operator/sign-out',
    headers: { ...cookie, ...OWN_ORIGIN },
  });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe('/operator/sign-in');
  expect(answer.cookies[0]).toMatchObject({ name: 'tallyport_operator', value: '', maxAge: 0 });
});

test('a session ends after twelve hours', async () => {
  const web = await webApp();
  const headers = { ...PAGE, ...(await signedIn(web)) };
  const start = Date.now();
  try {
    vi.useFakeTimers({ toFake: ['Date'], now: start + 12 * 3_600_000 - 10_000 });
    expect((await web.app.inject({ url: '/operator', headers })).statusCode).toBe(200);
    vi.setSystemTime(start + 12 * 3_600_000 + 10_000);
    expect((await web.app.inject({ url: '/operator', headers })).statusCode).toBe(303);
  } finally {
    vi.useRealTimers();
  }
});

test('a cookie that was changed, or made under another password, opens nothing', async () => {
  const web = await webApp();
  const { cookie } = await signedIn(web);
  const forged = { cookie: `${cookie.slice(0, 30)}${cookie[30] === 'A' ? 'B' : 'A'}${cookie.slice(31)}` };
  expect((await web.app.inject({ url: '/operator', headers: { ...PAGE, ...forged } })).statusCode).toBe(303);
  const other = await webApp({ OPERATOR_PASSWORD_HASH: `scrypt$32768$8$3$AAAA$${'A'.repeat(43)}` });
  expect((await other.app.inject({ url: '/operator', headers: { ...PAGE, cookie } })).statusCode).toBe(303);
});

test('a stranger who opens a page is asked to sign in, and led back to it', async () => {
  const { app } = await webApp();
  for (const url of [
    '/operator',
    '/operator/queues',
    '/operator/queues/queue/forward-votes?status=delayed',
  ]) {
    const answer = await app.inject({ url, headers: PAGE });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe(`/operator/sign-in?next=${encodeURIComponent(url)}`);
  }
  const form = await app.inject('/operator/sign-in?next=//elsewhere.example');
  expect(form.body).toContain('name="next" value="/operator"');
});

test('what is put into the sign-in page is escaped', async () => {
  const { app } = await webApp();
  const next = '/operator/"><script>alert(1)</script>';
  const { body } = await app.inject(`/operator/sign-in?next=${encodeURIComponent(next)}`);
  expect(body).not.toContain('<script');
});

test('the pages load nothing but their own style sheet and may not be framed', async () => {
  const { app } = await webApp();
  const { body, headers } = await app.inject('/operator/sign-in');
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  const addresses = [...body.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address);
  expect(new Set(addresses)).toEqual(
    new Set(['/operator/tallyport.svg', '/operator/desk.css', '/operator/sign-in']),
  );
  expect((await app.inject('/operator/desk.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  expect((await app.inject('/operator/tallyport.svg')).headers['content-type']).toBe('image/svg+xml');
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

test('every route of Bull Board answers a stranger with 401', async () => {
  const { app } = await webApp();
  for (const { method, url } of BOARD_API) {
    const answer = await app.inject({ method, url, headers: OWN_ORIGIN });
    expect(answer.statusCode, url).toBe(401);
    expect(answer.json(), url).toEqual({ error: 'Sign in at /operator/sign-in first.' });
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
  const headers = { ...PAGE, ...(await signedIn(web)) };
  const page = await web.app.inject({ url: '/operator/queues', headers });
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
  const headers = { ...PAGE, ...OWN_ORIGIN, ...(await signedIn(web)) };
  const queues = () => web.app.inject({ url: '/operator/queues/api/queues', headers });
  await vi.waitUntil(async () => (await queues()).statusCode === 200);

  redis.pause();
  const started = performance.now();
  const silent = await queues();
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(silent.statusCode).toBe(503);
  redis.resume();
  await redis.kill();
  await vi.waitUntil(() => web.platform.producerRedis.status !== 'ready');
  const pressed = await web.app.inject({ method: 'PUT', url: '/operator/queues/api/queues/pause', headers });
  expect(pressed.statusCode).toBe(503);
  expect(pressed.json()).toEqual({ error: expect.stringContaining('Redis does not answer') });
  expect((await web.app.inject({ url: '/operator/queues', headers })).statusCode).toBe(200);
  const desk = await web.app.inject({ url: '/operator', headers });
  expect(desk.statusCode).toBe(200);
  expect(desk.body).toContain('Redis does not answer.');
});
