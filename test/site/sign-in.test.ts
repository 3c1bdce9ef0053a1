import type { WithId } from 'mongodb';
import { expect, test } from 'vitest';
import { addFavourite } from '../../src/favourites/favourites.ts';
import type { ServerDraft } from '../../src/servers/server-draft.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { cookiesOf, isSignedIn, sendSignIn } from './account-pages.ts';

const shared = webAppOfFile();

const NEWCOMER = { name: 'Nora Newcomer', email: 'Nora@Example.org', password: PASSWORD };

test('a user signs up, signs out and signs in, and reaches the requested page', async () => {
  const web = shared();
  const up = await sendForm(web, '/sign-up', NEWCOMER);
  expect(up.statusCode).toBe(303);
  // Players come with a page to return to; others most likely have a server to list.
  expect(up.headers.location).toBe('/dashboard');
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

test.each([
  'a/b@example.org',
  'A=b@example.org',
  'a&b@example.org',
  'ivan@xn--e1afmkfd.xn--p1ai',
])('a user signs up and in with the address %s', async (email) => {
  const web = shared();
  const up = await sendForm(web, '/sign-up', { ...NEWCOMER, email });
  expect(up.statusCode).toBe(303);
  expect((await sendForm(web, '/sign-up', { ...NEWCOMER, email })).statusCode).toBe(409);
  const back = await sendSignIn(web, email.toUpperCase());
  expect(await isSignedIn(web, cookiesOf(back))).toBe(true);
  const stored = await web.deps.users.findOne({ email: email.toLowerCase() });
  expect(stored?.name).toBe(NEWCOMER.name);
});

test('an international domain may be typed in its own letters, at every form', async () => {
  const web = shared();
  const typed = 'Ivan@пример.рф';
  expect((await sendForm(web, '/sign-up', { ...NEWCOMER, email: typed })).statusCode).toBe(303);
  expect(await isSignedIn(web, cookiesOf(await sendSignIn(web, typed)))).toBe(true);
  expect(await isSignedIn(web, cookiesOf(await sendSignIn(web, 'ivan@xn--e1afmkfd.xn--p1ai')))).toBe(true);
});

test('a stand-in of the sign-in library is no way around the limits of an address', async () => {
  const web = shared();
  const { email } = await signIn(web);
  const standIn = `${Buffer.from(email).toString('hex')}@stand-in.invalid`;
  expect((await sendSignIn(web, standIn)).statusCode).toBe(401);
});

test('cookies are limited to this site and its path, and secure with https', async () => {
  const up = await sendForm(shared(), '/sign-up', NEWCOMER);
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
  expect(answer.headers.location).toBe('/listing/dashboard');
  for (const one of answer.cookies) {
    expect(one).toMatchObject({ path: '/listing', secure: true, httpOnly: true, sameSite: 'Lax' });
    expect(one.name).toMatch(/^__Secure-tallyport\./);
  }
  expect(await isSignedIn(secure, cookiesOf(answer))).toBe(true);
});

test('an unknown address and a wrong password get the same message', async () => {
  const web = shared();
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

test.each([
  [{ origin: 'https://elsewhere.example' }],
  [{ origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }],
  [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
  [{ origin: 'http://localhost:3001' }],
  [{ origin: 'null' }],
  [{ origin: 'null', 'sec-fetch-site': 'cross-site' }],
  [{}],
])('a form sent with %j is refused before it is read', async (headers) => {
  const { app } = shared();
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
  // A proxy that adds `Referrer-Policy: no-referrer` makes browsers send this.
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }],
  [{ origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }],
])('a form sent with %j is ours', async (headers) => {
  const { app } = shared();
  const answer = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...headers },
    payload: 'email=a%40example.org&password=x',
  });
  expect(answer.statusCode).toBe(401);
});

test('a visitor is redirected to sign in and then back to the page', async () => {
  const web = shared();
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

test('an operator lands in the admin area, owners in the dashboard, players at their favourites, and others where both are offered', async () => {
  const web = shared();
  const [plain, managing, owner, drafting, player, newcomer] = [
    await signIn(web, { role: 'operator', twoFactor: false }),
    await signIn(web, { role: 'operator', twoFactor: false }),
    await signIn(web),
    await signIn(web),
    await signIn(web),
    await signIn(web),
  ];
  await addFavourite(web.deps, player.userId, await addOwnedServer(web.deps, managing.userId));
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
  expect(await goal(newcomer)).toBe('/dashboard');
  expect(await goal(newcomer, '/servers/alpha')).toBe('/servers/alpha');
  const start = (await getPage(web, '/dashboard', newcomer.headers)).body;
  expect(start).toContain('href="/dashboard/servers/new"');
  expect(textOf(start)).toContain('Looking for a server to play on? See the ranking .');
  expect((await getPage(web, '/sign-in', plain.headers)).headers.location).toBe('/operator');
  expect((await getPage(web, '/sign-in', owner.headers)).headers.location).toBe('/dashboard');
});

test('operators must sign in again every twelve hours, owners do not', async () => {
  const web = shared();
  const operator = await signIn(web, { role: 'operator' });
  expect((await getPage(web, '/operator', operator.headers)).statusCode).toBe(200);
  const createdAt = new Date(Date.now() - 12 * 3_600_000 - 10_000);
  await web.deps.sessions.updateMany({ userId: operator.userId }, { $set: { createdAt } });
  expect((await getPage(web, '/operator', operator.headers)).statusCode).toBe(303);
  expect((await getPage(web, '/account', operator.headers)).statusCode).toBe(200);
});

test('the pages load only their own files, have no inline scripts or styles, and cannot be framed', async () => {
  const web = shared();
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
