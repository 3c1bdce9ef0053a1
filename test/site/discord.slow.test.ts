import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { cookiesOf, giveTwoFactor, isSignedIn, leavesFor, sendSignIn } from './account-pages.ts';

const ENV = { DISCORD_CLIENT_ID: 'tallyport', DISCORD_CLIENT_SECRET: 'a secret of Discord' };

const withDiscord = webAppOfFile(ENV);

/** The Discord user of the fake server. */
type Profile = { id: string; username: string; email: string | null; verified: boolean };

const NORA: Profile = {
  id: '80351110224678912',
  username: 'nora',
  email: 'nora@example.org',
  verified: true,
};

/** A fake Discord on loopback, which answers this process's requests to discord.com. */
async function startDiscord(profile: Profile) {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url} ${await text(request)}`);
    const isToken = request.url === '/api/oauth2/token';
    const body = isToken
      ? {
          access_token: 'granted',
          refresh_token: 'granted anew',
          token_type: 'Bearer',
          expires_in: 600,
          scope: 'identify email',
        }
      : { ...profile, discriminator: '0', avatar: null, global_name: null };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { fetch: real } = globalThis;
  vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== 'https://discord.com') throw new Error(`unexpected request to ${url.origin}`);
    return real(`http://127.0.0.1:${port}${url.pathname}`, init);
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    server.close();
  });
  return { requests };
}

/** Follows the OAuth redirects as a browser does. */
async function goThere(web: WebApp, query: (state: string) => Record<string, string> = granted) {
  const left = await sendForm(web, '/sign-in/discord', { next: '/dashboard/servers/new' });
  expect(left.statusCode).toBe(200);
  const there = new URL(leavesFor(left));
  const back = new URLSearchParams(query(there.searchParams.get('state') ?? ''));
  const answer = await getPage(web, `/api/auth/callback/discord?${back}`, cookiesOf(left));
  return { there, answer, left };
}

function granted(state: string): Record<string, string> {
  return { code: 'a code', state };
}

/** The text of the sign-in page after a failed sign-in with Discord. */
async function messageOf(web: WebApp, answer: { headers: { location?: unknown } }): Promise<string> {
  const url = new URL(String(answer.headers.location), 'http://localhost:3000');
  expect(url.pathname).toBe('/sign-in');
  return (await getPage(web, `${url.pathname}${url.search}`)).body;
}

test('a user signs up and signs in with Discord', async () => {
  const web = withDiscord();
  const { requests } = await startDiscord(NORA);
  const { there, answer } = await goThere(web);
  expect(`${there.origin}${there.pathname}`).toBe('https://discord.com/api/oauth2/authorize');
  expect(there.searchParams.get('redirect_uri')).toBe('http://localhost:3000/api/auth/callback/discord');
  expect(answer.headers.location).toBe('http://localhost:3000/dashboard/servers/new');
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect((await getPage(web, '/account', cookiesOf(answer))).body).toContain('You can sign in with Discord.');
  expect(requests).toEqual([
    expect.stringContaining('POST /api/oauth2/token grant_type=authorization_code&code=a+code'),
    expect.stringContaining('GET /api/users/%40me'),
  ]);
  await goThere(web);
  expect(await web.deps.users.find().toArray()).toMatchObject([
    { email: 'nora@example.org', emailVerified: true, role: 'owner' },
  ]);
});

test('the callback is under the base path', async () => {
  const web = await openWebApp({ ...ENV, PUBLIC_URL: 'http://localhost:3000/listing' });
  await startDiscord(NORA);
  const left = await sendForm(web, '/sign-in/discord', {});
  const there = new URL(leavesFor(left));
  expect(there.searchParams.get('redirect_uri')).toBe(
    'http://localhost:3000/listing/api/auth/callback/discord',
  );
  const state = there.searchParams.get('state') ?? '';
  const back = await getPage(web, `/api/auth/callback/discord?code=x&state=${state}`, cookiesOf(left));
  expect(back.headers.location).toBe('http://localhost:3000/listing/sign-in');
});

test('Discord is linked to the account with the same confirmed address, which keeps its password', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  const { email } = await signIn(web, { email: 'nora@example.org' });
  const { answer } = await goThere(web);
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect((await sendSignIn(web, email)).statusCode).toBe(303);
  expect(await web.deps.users.countDocuments()).toBe(1);
});

test('an unconfirmed account with the address goes to the owner of the address, and others lose access', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  const stranger = await signIn(web, { email: 'nora@example.org' });
  const { userId, email } = stranger;
  await web.deps.users.updateOne({ _id: userId }, { $set: { emailVerified: false } });
  const { headers } = await giveTwoFactor(web, stranger);
  const { answer } = await goThere(web);
  expect(await isSignedIn(web, cookiesOf(answer))).toBe(true);
  expect(await isSignedIn(web, headers)).toBe(false);
  expect((await sendSignIn(web, email)).statusCode).toBe(401);
  expect(await web.deps.users.find().toArray()).toMatchObject([
    { _id: userId, emailVerified: true, twoFactorEnabled: false },
  ]);
  expect(await web.deps.twoFactors.countDocuments()).toBe(0);
});

test('an operator’s unconfirmed account keeps its password and second factor', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  const operator = await signIn(web, { role: 'operator', twoFactor: false, email: 'nora@example.org' });
  await web.deps.users.updateOne({ _id: operator.userId }, { $set: { emailVerified: false } });
  const { headers } = await giveTwoFactor(web, operator);
  const { answer } = await goThere(web);
  expect(await messageOf(web, answer)).toContain('Sign in with your password.');
  expect(await isSignedIn(web, headers)).toBe(true);
  expect((await sendSignIn(web, operator.email)).headers.location).toMatch(/^\/sign-in\/code/);
});

test('no Discord tokens are stored', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  await goThere(web);
  // A further sign-in stores new tokens.
  await goThere(web);
  const [credential] = await web.deps.credentials.find().toArray();
  expect(credential).toMatchObject({ providerId: 'discord', accountId: NORA.id });
  expect(JSON.stringify(credential)).not.toContain('granted');
  expect(credential).toMatchObject({ accessToken: null, refreshToken: null, idToken: null });
});

test.each([
  [{ verified: false }],
  [{ email: null }],
])('an account at Discord with %j is refused, whether or not its address has an account', async (changes) => {
  const web = withDiscord();
  await startDiscord({ ...NORA, ...changes });
  const { answer } = await goThere(web);
  expect(await messageOf(web, answer)).toContain('Your account at Discord has no verified e-mail address.');
  expect(await web.deps.users.countDocuments()).toBe(0);
  await signIn(web, { email: NORA.email ?? '' });
  expect((await goThere(web)).answer.headers.location).toBe(answer.headers.location);
});

test('Discord does not bypass a second factor, an operator’s password or a suspension', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  await goThere(web);
  for (const [change, sentence] of [
    [{ twoFactorEnabled: true }, 'Sign in with your password.'],
    [{ twoFactorEnabled: false, role: 'operator' as const }, 'Sign in with your password.'],
    [{ role: 'owner' as const, suspendedAt: new Date() }, 'This account is suspended.'],
  ] as const) {
    await web.deps.users.updateOne({}, { $set: change });
    const { answer } = await goThere(web);
    expect(await messageOf(web, answer)).toContain(sentence);
    expect(await isSignedIn(web, cookiesOf(answer))).toBe(false);
  }
});

test('a cancelled sign-in and a forged callback show messages', async () => {
  const web = withDiscord();
  await startDiscord(NORA);
  const declined = await goThere(web, (state) => ({ error: 'access_denied', state }));
  expect(await messageOf(web, declined.answer)).toContain('You cancelled the sign-in with Discord.');
  const forged = await getPage(web, '/api/auth/callback/discord?code=x&state=forged');
  expect(await messageOf(web, forged)).toContain(
    'The sign-in with Discord took too long, or began in another browser.',
  );
  // This `state` is from a sign-in in another browser.
  const { left } = await goThere(web);
  const state = new URL(leavesFor(left)).searchParams.get('state');
  const stolen = await getPage(web, `/api/auth/callback/discord?code=x&state=${state}`);
  expect(await messageOf(web, stolen)).toContain(
    'The sign-in with Discord took too long, or began in another browser.',
  );
});

test('no other route of the library is exposed, and none for Discord if it is not configured', async () => {
  const web = withDiscord();
  for (const path of ['/api/auth/sign-in/email', '/api/auth/get-session', '/api/auth/callback/github']) {
    expect((await getPage(web, path)).statusCode, path).toBe(404);
    expect((await sendForm(web, path, {})).statusCode, path).toBe(404);
  }
  expect(String((await getPage(web, '/sign-in')).headers['content-security-policy'])).toContain(
    "form-action 'self';",
  );
  const without = await openWebApp();
  expect((await sendForm(without, '/sign-in/discord', {})).statusCode).toBe(404);
  expect((await getPage(without, '/sign-in')).body).not.toContain('Discord');
});
