import type { WithId } from 'mongodb';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { openAppDeps } from '../../src/process/app-deps.ts';
import type { ServerDraft } from '../../src/servers/server-draft.ts';
import { freshNames } from '../support/databases.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import {
  CHEAP_PASSWORDS,
  getPage,
  openWebApp,
  openWebAppOn,
  sendForm,
  type WebApp,
} from '../support/web-app.ts';
import { cookiesOf, isSignedIn, sendSignIn } from './account-pages.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

const NEWCOMER = { name: 'Nora Newcomer', email: 'Nora@Example.org', password: PASSWORD };

test('a user signs up, signs out and signs in, and reaches the requested page', async () => {
  // In this test, passwords are hashed with the cost of production.
  const web = await openWebAppOn(await testDeps());
  const up = await sendForm(web, '/sign-up', NEWCOMER);
  expect(up.statusCode).toBe(303);
  expect(up.headers.location).toBe('/favourites');
  expect(await web.deps.credentials.findOne({})).toMatchObject({
    password: expect.stringMatching(/^scrypt\$32768\$8\$3\$/),
  });
  const first = cookiesOf(up);
  expect(await isSignedIn(web, first)).toBe(true);
  const out = await sendForm(web, '/sign-out', {}, first);
  expect(out.headers.location).toBe('/sign-in?done=signed-out');
  // The cookie of the earlier session no longer works.
  expect(await isSignedIn(web, first)).toBe(false);
  const back = await sendForm(web, '/sign-in', {
    email: 'nora@example.org',
    password: PASSWORD,
    next: '/dashboard/servers/new?x=1',
  });
  expect(back.headers.location).toBe('/dashboard/servers/new?x=1');
  expect(await isSignedIn(web, cookiesOf(back))).toBe(true);
});

test('cookies are limited to this site and its path, and secure with https', async () => {
  const plain = await openWebApp();
  const up = await sendForm(plain, '/sign-up', NEWCOMER);
  const [cookie] = up.cookies;
  expect(cookie).toMatchObject({
    name: 'tallyport.session_token',
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
  });
  expect(cookie).not.toHaveProperty('secure');

  const secure = await openWebApp({ PUBLIC_URL: 'https://example.org/listing' });
  const headers = { origin: 'https://example.org' };
  const answer = await sendForm(secure, '/sign-up', NEWCOMER, headers);
  expect(answer.headers.location).toBe('/listing/favourites');
  for (const one of answer.cookies) {
    expect(one).toMatchObject({ path: '/listing', secure: true, httpOnly: true, sameSite: 'Lax' });
    expect(one.name).toMatch(/^__Secure-tallyport\./);
  }
  expect(await isSignedIn(secure, cookiesOf(answer))).toBe(true);
});

test('two simultaneous sign-ups with one address on two processes create one user', async () => {
  const first = await openWebApp();
  const { deps } = first;
  // Two processes have nothing in common but the database.
  const other = await openAppDeps(deps.config, 'test');
  onTestFinished(() => other.close());
  const second = await openWebAppOn({ ...other, passwords: CHEAP_PASSWORDS });
  const answers = await Promise.all(
    [first, second, first, second].map((web) => sendForm(web, '/sign-up', NEWCOMER)),
  );
  const [made, ...refused] = answers.map(({ statusCode }) => statusCode).toSorted();
  expect(made).toBe(303);
  // A mailbox may have two new accounts a day, so the third simultaneous one may be refused by that limit first.
  for (const status of refused) expect([409, 429]).toContain(status);
  expect(await deps.users.countDocuments()).toBe(1);
  expect(await deps.credentials.countDocuments()).toBe(1);
});

test('an unknown address and a wrong password get the same message', async () => {
  const { email } = await signIn(web);
  const unknown = await sendSignIn(web, 'nobody@example.org');
  const wrong = await sendSignIn(web, email, 'four ships in the bay');
  for (const answer of [unknown, wrong]) {
    expect(answer.statusCode).toBe(401);
    expect(answer.cookies).toEqual([]);
    expect(answer.body).toContain('Wrong e-mail address or password.');
  }
  expect((await sendSignIn(web, email, '')).statusCode).toBe(400);
  expect((await sendSignIn(web, email, 'x'.repeat(2_000))).statusCode).toBe(400);
});

test('simultaneous sign-ins wait in a short queue; the rest are refused', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const passwords = {
    hash: (password: string) => released.then(() => CHEAP_PASSWORDS.hash(password)),
    verify: (password: string, stored: string) =>
      released.then(() => CHEAP_PASSWORDS.verify(password, stored)),
  };
  const web = await openWebAppOn({ ...(await testDeps({ TRUST_PROXY: '1' })), passwords });
  const { email } = await signIn(web);
  const answers: number[] = [];
  const all = Array.from({ length: 20 }, async (_, n) => {
    const answer = await sendSignIn(web, n < 10 ? email : `nobody-${n}@example.org`, PASSWORD, {
      'x-forwarded-for': `192.0.2.${n}`,
    });
    answers.push(answer.statusCode);
    return answer;
  });
  // No password has been checked yet: two are being checked, eight wait.
  await expect.poll(() => answers).toEqual(Array(10).fill(503));
  release();
  const busy = (await Promise.all(all)).filter(({ statusCode }) => statusCode === 503);
  expect(busy).toHaveLength(10);
  expect(busy[0]?.headers['retry-after']).toBe('5');
});

test.each([
  [{ origin: 'https://elsewhere.example' }],
  [{ origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }],
  [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
  [{ origin: 'http://localhost:3001' }],
  [{ origin: 'null' }],
  [{}],
])('a form sent with %j is refused before it is read', async (headers) => {
  const { app } = web;
  const answer = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: 'email=a%40example.org&password=x',
  });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toMatchObject({ error: 'This form was not sent from this site.', code: 'forbidden' });
});

test.each([
  [{ 'sec-fetch-site': 'same-origin' }],
  [{ origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }],
])('a form sent with %j is ours', async (headers) => {
  const { app } = web;
  const answer = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...headers },
    payload: 'email=a%40example.org&password=x',
  });
  expect(answer.statusCode).toBe(401);
});

test('a visitor is redirected to sign in and then back to the page', async () => {
  for (const url of ['/operator', '/operator/queues/queue/forward-votes?status=delayed', '/account']) {
    const answer = await getPage(web, url);
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe(`/sign-in?next=${encodeURIComponent(url)}`);
  }
  const elsewhere = await getPage(web, '/sign-in?next=//elsewhere.example');
  expect(elsewhere.body).toContain('name="next" value=""');
  const script = encodeURIComponent('/dashboard/"><script>alert(1)</script>');
  expect((await getPage(web, `/sign-in?next=${script}`)).body).not.toContain('<script>alert');
});

test('an operator lands in the admin area, owners in the dashboard, and players at their favourites', async () => {
  const [plain, managing, owner, drafting, player] = [
    await signIn(web, { role: 'operator', twoFactor: false }),
    await signIn(web, { role: 'operator', twoFactor: false }),
    await signIn(web),
    await signIn(web),
    await signIn(web),
  ];
  await addOwnedServer(web.deps, managing.userId);
  await addOwnedServer(web.deps, owner.userId, { address: 'owner.example.org' });
  await web.deps.serverDrafts.insertOne({ ownerId: drafting.userId } as WithId<ServerDraft>);
  const goal = async ({ email }: SignedInUser, next?: string) => {
    const fields = { email, password: PASSWORD, ...(next === undefined ? {} : { next }) };
    return (await sendForm(web, '/sign-in', fields)).headers.location;
  };
  expect(await goal(plain)).toBe('/operator');
  expect(await goal(plain, '')).toBe('/operator');
  expect(await goal(plain, '/account')).toBe('/account');
  expect(await goal(plain, '//elsewhere.example')).toBe('/operator');
  expect(await goal(managing)).toBe('/dashboard');
  expect(await goal(owner)).toBe('/dashboard');
  expect(await goal(drafting)).toBe('/dashboard');
  expect(await goal(player)).toBe('/favourites');
  expect((await getPage(web, '/sign-in', plain.headers)).headers.location).toBe('/operator');
  expect((await getPage(web, '/sign-in', owner.headers)).headers.location).toBe('/dashboard');
});

test('operators must sign in again every twelve hours, owners do not', async () => {
  const operator = await signIn(web, { role: 'operator' });
  expect((await getPage(web, '/operator', operator.headers)).statusCode).toBe(200);
  const createdAt = new Date(Date.now() - 12 * 3_600_000 - 10_000);
  await web.deps.sessions.updateMany({ userId: operator.userId }, { $set: { createdAt } });
  expect((await getPage(web, '/operator', operator.headers)).statusCode).toBe(303);
  expect((await getPage(web, '/account', operator.headers)).statusCode).toBe(200);
});

test('the pages load only their own files, have no inline scripts or styles, and cannot be framed', async () => {
  const { headers } = await signIn(web);
  for (const url of ['/sign-in', '/sign-up', '/forgot-password', '/account', '/account/two-factor']) {
    const page = await getPage(web, url, url.startsWith('/account') ? headers : {});
    expect(page.statusCode, url).toBe(200);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers['cache-control']).toBe('no-store');
    const addresses = [...page.body.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(
      ([, address = '']) => address,
    );
    for (const address of addresses) expect(address, url).toMatch(/^[/#]/);
    expect(page.body).not.toMatch(/ style=| on\w+=|<style|<script>/);
  }
});

test('during a database outage a signed-in user sees a message and stays signed in', async () => {
  const proxy = await startFaultProxy(Number(new URL(inject('mongodbUri')).port), 'mongodb');
  onTestFinished(() => proxy.close());
  const web = await openWebApp({ MONGODB_URI: proxy.through(freshNames().mongodbUri) });
  const { headers } = await signIn(web);
  await proxy.refuse();
  const away = await getPage(web, '/dashboard', headers);
  expect(away.statusCode).toBe(503);
  expect(away.headers['retry-after']).toBeDefined();
  expect(away.body).toContain('The database does not answer');
  await proxy.restore();
  await expect.poll(async () => (await getPage(web, '/dashboard', headers)).statusCode).toBe(200);
});
