import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openIdAccountId } from '../../src/accounts/other-sites/openid-connect.ts';
import { createLogger } from '../../src/platform/log.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { collectLines } from '../support/log-lines.ts';
import { NORA, type OidcProvider, signInAt, startOidcProvider } from '../support/oidc-provider.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import {
  CHEAP_PASSWORDS,
  getPage,
  openWebApp,
  openWebAppOn,
  sendForm,
  type WebApp,
} from '../support/web-app.ts';
import {
  cookiesOf,
  giveTwoFactor,
  isSignedIn,
  leavesFor,
  mailsTo,
  removeUsers,
  sendSignIn,
} from './account-pages.ts';

let op: OidcProvider;
let web: WebApp;
/** The lines of its log. */
const { lines, add } = collectLines();

beforeAll(async () => {
  op = await startOidcProvider();
  const opened = await testDeps(op.env);
  const log = createLogger({ LOG_LEVEL: 'info' }, 'web', { write: add });
  web = await openWebAppOn({ ...opened, log, passwords: CHEAP_PASSWORDS });
});

beforeEach(async () => {
  Object.assign(op, { user: NORA, isEmailInToken: true, requests: [], lies: {} });
  lines.splice(0);
  await removeUsers(web.deps);
});

type Options = { at?: WebApp; next?: string; change?: (back: URLSearchParams) => void };

/** Signs in as a browser does. `change` may change the parameters of the callback. */
async function goThere({ at = web, next = '', change }: Options = {}) {
  const left = await sendForm(at, '/sign-in/oidc', { next });
  expect(left.statusCode).toBe(200);
  const back = await signInAt(op, leavesFor(left));
  change?.(back.searchParams);
  return { left, back, answer: await getPage(at, `${back.pathname}${back.search}`, cookiesOf(left)) };
}

/** The text of the sign-in page after a failed sign-in. */
async function messageOf({ headers }: { headers: { location?: unknown } }): Promise<string> {
  const url = new URL(String(headers.location), 'http://localhost:3000');
  expect(url.pathname).toBe('/sign-in');
  return (await getPage(web, `${url.pathname}${url.search}`)).body;
}

const NO_VERIFIED_ADDRESS =
  'Your account at Our club has no verified e-mail address. Verify one there first.';
const FAILED = 'Sign-in with Our club failed. Try again, or use your password.';
const LAPSED = 'The sign-in with Our club took too long, or began in another browser. Try again.';

test('a user signs up and signs in with the provider, and goes on to the page they wanted', async () => {
  for (const path of ['/sign-in', '/sign-up']) {
    expect((await getPage(web, path)).body).toContain('Continue with Our club');
  }
  const { left, answer } = await goThere({ next: '/dashboard/servers/new' });
  const there = new URL(leavesFor(left));
  expect(there.searchParams.get('code_challenge_method')).toBe('S256');
  expect(there.searchParams.get('nonce')).toMatch(/^[\w-]{32}$/);
  expect(answer.headers.location).toBe('http://localhost:3000/dashboard/servers/new');
  expect((await getPage(web, '/account', cookiesOf(answer))).body).toContain(
    'You can sign in with Our club.',
  );
  await goThere();
  expect(await web.deps.users.find().toArray()).toMatchObject([
    { email: 'nora@example.org', name: 'Nora', emailVerified: true, role: 'owner' },
  ]);
});

test('a new account counts against the limits of its network and mail domain, a sign-in does not', async () => {
  const { config } = web.deps;
  const most = config.SIGN_UPS_PER_NETWORK;
  config.SIGN_UPS_PER_NETWORK = 1;
  onTestFinished(() => {
    config.SIGN_UPS_PER_NETWORK = most;
  });
  const { answer } = await goThere();
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  op.user = { ...NORA, sub: 'mallory-1', email: 'mallory@example.org' };
  expect(await messageOf((await goThere()).answer)).toContain('Too many new accounts came from');
  expect(await web.deps.users.countDocuments()).toBe(1);
  op.user = NORA;
  const again = await goThere();
  expect(await isSignedIn(web, cookiesOf(again.answer))).toBe(true);
});

test('the provider’s addresses are read at the first sign-in and then cached', async () => {
  const fresh = await openWebApp(op.env);
  await getPage(fresh, '/sign-in');
  expect(op.requests).toEqual([]);
  await sendForm(fresh, '/sign-in/oidc', {});
  await sendForm(fresh, '/sign-in/oidc', {});
  const discoveries = op.requests.filter((request) => request.includes('.well-known'));
  expect(discoveries).toEqual(['GET /.well-known/openid-configuration']);
});

test('an address that only the userinfo endpoint has is read there, for the same subject', async () => {
  op.isEmailInToken = false;
  op.lies.userinfo = (claims) => ({ ...claims, sub: 'another' });
  expect(await messageOf((await goThere()).answer)).toContain(FAILED);
  op.lies = {};
  const { answer } = await goThere();
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect(op.requests).toContain('GET /me');
});

test('no tokens are stored, and the account is one of this issuer', async () => {
  await goThere();
  const [credential] = await web.deps.credentials.find().toArray();
  expect(credential).toMatchObject({
    providerId: 'oidc',
    accountId: openIdAccountId(op.issuer, 'nora-1'),
    accessToken: null,
    refreshToken: null,
    idToken: null,
  });
});

test('the same subject of another issuer is another user', async () => {
  await goThere();
  const { deps } = web;
  const accountId = openIdAccountId('https://earlier.example.org', 'nora-1');
  await deps.credentials.updateMany({}, { $set: { accountId } });
  op.user = { sub: 'nora-1', name: 'Mallory', email: 'mallory@example.org', email_verified: true };
  const { answer } = await goThere();
  expect((await getPage(web, '/account', cookiesOf(answer))).body).toContain('mallory@example.org');
  expect(await deps.users.countDocuments()).toBe(2);
});

test('an account with the same confirmed address is linked and keeps its password', async () => {
  const { email, headers } = await signIn(web, { email: 'nora@example.org' });
  expect((await getPage(web, '/account', headers)).body).toContain(
    'an account at Our club that has the same',
  );
  const { answer } = await goThere();
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect((await sendSignIn(web, email)).statusCode).toBe(303);
  expect(await web.deps.users.countDocuments()).toBe(1);
});

test('a new link is mailed and recorded; the user removes it, and a later sign-in links it again', async () => {
  const { deps } = web;
  const { headers } = await signIn(web, { email: 'nora@example.org' });
  await goThere();
  const page = await getPage(web, '/account', headers);
  expect(page.body).toContain('/account/sites/oidc/unlink');
  const removed = await sendForm(web, '/account/sites/oidc/unlink', {}, headers);
  expect(removed.headers.location).toBe('/account?done=unlinked');
  await sendForm(web, '/account/sites/oidc/unlink', {}, headers);
  expect((await getPage(web, '/account', headers)).body).toContain('not linked');
  await goThere();
  const changes = await deps.auditLog
    .find({ action: /^account\.site/ })
    .sort({ _id: 1 })
    .toArray();
  expect(changes.map(({ action, details }) => [action, details.site])).toEqual([
    ['account.site-linked', 'Our club'],
    ['account.site-unlinked', 'Our club'],
    ['account.site-linked', 'Our club'],
  ]);
  expect((await sendForm(web, '/account/sites/other/unlink', {}, headers)).statusCode).toBe(404);
});

test('a user without a password keeps the link', async () => {
  const { answer } = await goThere();
  const headers = cookiesOf(answer);
  expect((await getPage(web, '/account', headers)).body).not.toContain('/unlink');
  expect((await sendForm(web, '/account/sites/oidc/unlink', {}, headers)).statusCode).toBe(409);
  expect(await web.deps.credentials.countDocuments({ providerId: 'oidc' })).toBe(1);
  expect(await web.deps.auditLog.countDocuments({ action: /^account\.site/ })).toBe(0);
});

test('a link is also mailed and recorded when the account is linked to another site and has no password', async () => {
  const withMail = await openWebApp({
    ...op.env,
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
  });
  const { deps } = withMail;
  await goThere({ at: withMail });
  // A sign-up links nothing to an existing account.
  expect(await deps.auditLog.countDocuments()).toBe(0);
  expect(await mailsTo(deps, 'nora@example.org')).toEqual([]);
  await deps.credentials.updateMany({}, { $set: { providerId: 'discord', accountId: '80351110224678912' } });
  await goThere({ at: withMail });
  expect(await deps.auditLog.find().toArray()).toMatchObject([
    { action: 'account.site-linked', by: 'nora@example.org', details: { site: 'Our club' } },
  ]);
  const mails = await mailsTo(deps, 'nora@example.org');
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain('Your account can now be opened with your account at Our club.');
});

test('the log says with the number of the request why the provider’s answer was refused', async () => {
  op.lies.token = (claims) => ({ ...claims, aud: 'another' });
  const { answer } = await goThere();
  const refusals = lines.filter(({ event }) => event === 'account.sign_in_refused');
  expect(refusals).toMatchObject([
    {
      requestId: answer.headers['x-request-id'],
      provider: 'oidc',
      code: 'invalid_code',
      reason: expect.stringContaining('aud'),
    },
  ]);
});

test('a user signs in over https, under a base path', async () => {
  const origin = 'https://votes.example.org';
  const provider = await startOidcProvider(`${origin}/listing`);
  const secure = await openWebApp({ ...provider.env, PUBLIC_URL: `${origin}/listing` });
  const left = await sendForm(secure, '/sign-in/oidc', {}, { origin });
  const there = new URL(leavesFor(left));
  expect(there.searchParams.get('redirect_uri')).toBe(`${origin}/listing/api/auth/callback/oidc`);
  const back = await signInAt(provider, leavesFor(left));
  const answer = await secure.app.inject({ url: `${back.pathname}${back.search}`, headers: cookiesOf(left) });
  expect(answer.headers.location).toBe(`${origin}/listing/sign-in`);
  expect(await isSignedIn(secure, cookiesOf(answer))).toBe(true);
});

test('a sign-in is logged, also when the user goes on to a page with `error` in its query', async () => {
  const { answer } = await goThere({ next: '/sign-in?error=x' });
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect(lines).toContainEqual(expect.objectContaining({ event: 'account.signed_in', provider: 'oidc' }));
  expect(lines.filter(({ event }) => event === 'account.sign_in_refused')).toEqual([]);
});

test('a sign-in that the database does not store is refused, and the log names the error', async () => {
  const { db } = web.deps.mongo;
  await db.command({ collMod: 'sessions', validator: { userId: { $exists: false } } });
  onTestFinished(async () => {
    await db.command({ collMod: 'sessions', validator: {} });
  });
  const { answer } = await goThere();
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe('/sign-in?error=failed&from=oidc');
  expect(lines.filter(({ event }) => event === 'account.signed_in')).toEqual([]);
  const requestId = answer.headers['x-request-id'];
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        event: 'request.failed',
        requestId,
        err: expect.objectContaining({ code: 121 }),
      }),
      expect.objectContaining({ event: 'account.sign_in_refused', requestId, code: 'failed' }),
    ]),
  );
});

test('a network returns from the provider a limited number of times', async () => {
  const returned = '/api/auth/callback/oidc?state=x&code=y';
  const comeBack = async () => (await getPage(web, returned, { cookie: 'tallyport.state=x' })).statusCode;
  expect(await comeBack()).toBe(303);
  await web.deps.rateLimits.updateMany({ _id: /^other-site-return:/ }, { $set: { count: 29 } });
  expect([await comeBack(), await comeBack()]).toEqual([303, 429]);
  // The limit counts only requests with the cookie. A picture on another site makes the browser send requests without
  // it, so it cannot use up the limit.
  const withoutCookie = await getPage(web, returned);
  expect(withoutCookie.headers.location).toBe('/sign-in?error=state_mismatch&from=oidc');
});

test('an unconfirmed account with the address goes to the owner of the address, and others lose access', async () => {
  const stranger = await signIn(web, { email: 'nora@example.org' });
  const { userId, email } = stranger;
  await web.deps.users.updateOne({ _id: userId }, { $set: { emailVerified: false } });
  const { headers } = await giveTwoFactor(web, stranger);
  const { answer } = await goThere();
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect(await isSignedIn(web, headers)).toBe(false);
  expect(await web.deps.auditLog.countDocuments({ action: 'account.access-revoked' })).toBe(1);
  expect((await sendSignIn(web, email)).statusCode).toBe(401);
});

test('the provider does not bypass a second factor, an operator’s password or a suspension', async () => {
  await goThere();
  for (const [change, sentence] of [
    [{ twoFactorEnabled: true }, 'Sign in with your password.'],
    [{ twoFactorEnabled: false, role: 'operator' as const }, 'Sign in with your password.'],
    [{ role: 'owner' as const, suspendedAt: new Date() }, 'This account is suspended.'],
  ] as const) {
    await web.deps.users.updateOne({}, { $set: change });
    const { answer } = await goThere();
    expect(await messageOf(answer)).toContain(sentence);
    expect(await isSignedIn(web, cookiesOf(answer))).toBe(false);
  }
});

test('an account that requires its password is not linked', async () => {
  const { userId, headers } = await signIn(web, { email: 'nora@example.org' });
  await web.deps.users.updateOne({ _id: userId }, { $set: { twoFactorEnabled: true } });
  expect(await messageOf((await goThere()).answer)).toContain('Sign in with your password.');
  expect(await web.deps.credentials.countDocuments({ providerId: 'oidc' })).toBe(0);
  expect((await getPage(web, '/account', headers)).body).toContain('you cannot sign in with Our club.');
});

test('an operator’s unconfirmed account keeps its password', async () => {
  const { userId, email } = await signIn(web, {
    role: 'operator',
    twoFactor: false,
    email: 'nora@example.org',
  });
  await web.deps.users.updateOne({ _id: userId }, { $set: { emailVerified: false } });
  const { answer } = await goThere();
  expect(await messageOf(answer)).toContain('Sign in with your password.');
  expect((await sendSignIn(web, email)).statusCode).toBe(303);
});

test('the text "true" is a confirmation, and so is one that only the userinfo endpoint has', async () => {
  op.user = { ...NORA, email_verified: 'true' };
  expect(await isSignedIn(web, cookiesOf((await goThere()).answer))).toBe(true);
  op.user = NORA;
  op.lies.token = (claims) => ({ ...claims, email_verified: undefined });
  expect(await isSignedIn(web, cookiesOf((await goThere()).answer))).toBe(true);
  expect(op.requests).toContain('GET /me');
  op.lies.userinfo = (claims) => ({ ...claims, email_verified: false });
  expect(await messageOf((await goThere()).answer)).toContain(NO_VERIFIED_ADDRESS);
});

test('with OIDC_TRUST_EMAIL an address without the claim is confirmed; one that is not confirmed stays so', async () => {
  const opened = await testDeps({ ...op.env, OIDC_TRUST_EMAIL: 'on' });
  const at = await openWebAppOn({ ...opened, passwords: CHEAP_PASSWORDS });
  op.user = { ...NORA, email_verified: undefined };
  expect(await isSignedIn(at, cookiesOf((await goThere({ at })).answer))).toBe(true);
  op.user = { ...NORA, email_verified: false };
  expect(await messageOf((await goThere({ at })).answer)).toContain(NO_VERIFIED_ADDRESS);
  // Only the userinfo endpoint says that it is not.
  op.lies.token = (claims) => ({ ...claims, email_verified: undefined });
  expect(await messageOf((await goThere({ at })).answer)).toContain(NO_VERIFIED_ADDRESS);
});

test.each([
  [{ email_verified: undefined }],
  [{ email_verified: 'false' }],
  [{ email_verified: 1 }],
])('an address with %j is refused', async (changes) => {
  op.user = { ...op.user, ...changes };
  expect(await messageOf((await goThere()).answer)).toContain(NO_VERIFIED_ADDRESS);
  expect(await web.deps.credentials.countDocuments({ providerId: 'oidc' })).toBe(0);
});

test('an unverified address is refused, and the answer does not tell whether it has an account', async () => {
  op.user = { ...op.user, email_verified: false };
  const unknown = (await goThere()).answer;
  expect(await messageOf(unknown)).toContain(NO_VERIFIED_ADDRESS);
  await signIn(web, { email: 'nora@example.org' });
  const known = (await goThere()).answer;
  expect(seenOf(known)).toEqual(seenOf(unknown));
  expect(await web.deps.credentials.countDocuments({ providerId: 'oidc' })).toBe(0);
});

/** What the browser sees of an answer: the status, the redirect and the cookies. */
function seenOf({ statusCode, headers, body }: Awaited<ReturnType<typeof getPage>>) {
  const names = [headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split('=')[0]);
  return { statusCode, location: headers.location, names, body };
}

test('an account without an address is refused', async () => {
  op.user = { sub: 'nora-1', name: 'Nora' };
  expect(await messageOf((await goThere()).answer)).toContain(NO_VERIFIED_ADDRESS);
});

test.each([
  [{ name: 'N'.repeat(80) }, 'N'.repeat(60)],
  [{ name: 'nora@example.org', preferred_username: 'nora' }, 'nora'],
  [{ name: undefined, preferred_username: 'nora@example.org' }, 'User'],
])('a user’s name is short and no e-mail address: %j', async (names, name) => {
  op.user = { ...op.user, ...names };
  await goThere();
  expect(await web.deps.users.find().toArray()).toMatchObject([{ name }]);
});

test.each<[string, OidcProvider['lies']]>([
  ['of another issuer', { token: (claims) => ({ ...claims, iss: 'https://evil.example' }) }],
  ['for another client', { token: (claims) => ({ ...claims, aud: 'another' }) }],
  ['for several clients', { token: (claims) => ({ ...claims, aud: ['tallyport', 'x'], azp: 'x' }) }],
  ['of another sign-in', { token: (claims) => ({ ...claims, nonce: 'another' }) }],
  ['without a nonce', { token: (claims) => ({ ...claims, nonce: undefined }) }],
  ['that has expired', { token: (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 }) }],
  ['without a subject', { token: (claims) => ({ ...claims, sub: undefined }) }],
  ['with another signature', { hasWrongKey: true }],
])('an ID token %s is refused', async (_, lies) => {
  op.lies = lies;
  const { answer } = await goThere();
  expect(await messageOf(answer)).toContain(FAILED);
  expect(await web.deps.users.countDocuments()).toBe(0);
});

test.each<[string, (back: URLSearchParams) => void]>([
  ['of another issuer', (back) => back.set('iss', 'https://evil.example')],
  ['without the issuer that the provider promises', (back) => back.delete('iss')],
  ['with a code of nobody', (back) => back.set('code', 'x')],
  ['with another state', (back) => back.set('state', 'x')],
  ['without a state', (back) => back.delete('state')],
])('a callback %s is refused', async (kind, change) => {
  const { answer } = await goThere({ change });
  expect(await messageOf(answer)).toContain(kind === 'with another state' ? LAPSED : FAILED);
  expect(await web.deps.users.countDocuments()).toBe(0);
});

test('a callback works once, and only in the browser that began the sign-in', async () => {
  const left = await sendForm(web, '/sign-in/oidc', {});
  const back = await signInAt(op, leavesFor(left));
  const callback = `${back.pathname}${back.search}`;
  const other = await sendForm(web, '/sign-in/oidc', {});
  expect(await messageOf(await getPage(web, callback, cookiesOf(other)))).toContain(LAPSED);
  const fresh = await goThere();
  expect(await isSignedIn(web, cookiesOf(fresh.answer))).toBe(true);
  const again = await getPage(web, `${fresh.back.pathname}${fresh.back.search}`, cookiesOf(fresh.left));
  expect(await messageOf(again)).toContain(LAPSED);
});

test('if a user cancels, the page says so in its language', async () => {
  op.user = null;
  const { answer } = await goThere();
  expect(await messageOf(answer)).toContain('You cancelled the sign-in with Our club.');
  const german = await getPage(web, String(answer.headers.location), { 'accept-language': 'de' });
  expect(german.body).toContain('Du hast die Anmeldung mit Our club abgebrochen.');
});

test('after signing in nobody is sent to another site', async () => {
  const { answer } = await goThere({ next: '//evil.example/x' });
  expect(answer.headers.location).toBe('http://localhost:3000/sign-in');
});

test('a provider that is down refuses sign-ins only, and the next one works', async () => {
  const fresh = await openWebApp(op.env);
  op.lies.hangs = true;
  const waiting = sendForm(fresh, '/sign-in/oidc', { next: '/favourites' });
  await vi.waitFor(() => expect(op.requests).toHaveLength(1), EVENTUALLY);
  expect((await getPage(fresh, '/sign-in')).statusCode).toBe(200);
  op.cut();
  const refused = await waiting;
  expect(refused.headers.location).toContain('next=%2Ffavourites');
  expect(await messageOf(refused)).toContain(
    'Sign-in with Our club does not work at the moment. Try again later',
  );
  op.lies = {};
  expect((await sendForm(fresh, '/sign-in/oidc', {})).statusCode).toBe(200);
});

test('sign-ins of one network that begin at another site are limited', async () => {
  const begin = async () => (await sendForm(web, '/sign-in/oidc', {})).statusCode;
  expect(await begin()).toBe(200);
  await web.deps.rateLimits.updateMany({ _id: /^other-site:/ }, { $set: { count: 29 } });
  expect([await begin(), await begin()]).toEqual([200, 429]);
});

test('without a provider there is no route and no button', async () => {
  const without = await openWebApp();
  expect((await sendForm(without, '/sign-in/oidc', {})).statusCode).toBe(404);
  expect((await getPage(without, '/api/auth/callback/oidc')).statusCode).toBe(404);
  expect((await getPage(without, '/sign-in?error=failed&from=oidc')).body).not.toContain('Continue with');
});
