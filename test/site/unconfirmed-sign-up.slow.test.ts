import { describe, expect, test } from 'vitest';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { getPage, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';
import {
  cookiesOf,
  isSignedIn,
  linkTo,
  mailsTo,
  sendSignIn,
  setUpTwoFactor,
  tokenOf,
} from './account-pages.ts';

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tallyport <votes@example.org>' };
const shared = webAppOfFile({ ...MAIL, TRUST_PROXY: '1' });
const VICTIM = 'vera@example.org';
const OWN_PASSWORD = 'seven lamps on the quay';

function finish(web: WebApp, link: string, password = OWN_PASSWORD) {
  return sendForm(web, '/verify-email', { token: tokenOf(link), name: 'Vera', password });
}

/** Creates an unconfirmed account, as listings without mail and older versions do. */
async function unconfirmed(web: WebApp, email = VICTIM) {
  const stranger = await signIn(web, { email });
  await web.deps.users.updateOne({ _id: stranger.userId }, { $set: { emailVerified: false } });
  return stranger;
}

describe('a sign-up with another user’s address', () => {
  test('creates no account and stores only the address', async () => {
    const web = shared();
    const attack = { name: 'Mallory', email: VICTIM, password: PASSWORD };
    expect((await sendForm(web, '/sign-up', attack)).statusCode).toBe(200);
    expect(await web.deps.users.countDocuments()).toBe(0);
    expect(await web.deps.credentials.countDocuments()).toBe(0);
    expect((await sendSignIn(web, VICTIM)).body).toContain('Wrong e-mail address or password.');
    expect(await mailsTo(web.deps, VICTIM)).toHaveLength(1);
  });

  test('gives the attacker’s password no access, whichever link the owner opens', async () => {
    const web = shared();
    await sendForm(web, '/sign-up', { name: 'Mallory', email: VICTIM, password: PASSWORD });
    const attackersLink = await linkTo(web.deps, VICTIM);
    await sendForm(web, '/sign-up', { name: 'Vera', email: VICTIM, password: OWN_PASSWORD });
    await sendSignIn(web, VICTIM);
    expect((await getPage(web, attackersLink)).body).toContain('name="password"');
    expect((await finish(web, attackersLink)).headers.location).toBe('/sign-in?done=verified');
    expect((await sendSignIn(web, VICTIM, PASSWORD)).statusCode).toBe(401);
    expect(await isSignedIn(web, cookiesOf(await sendSignIn(web, VICTIM, OWN_PASSWORD)))).toBe(true);
    expect(await web.deps.users.find().toArray()).toMatchObject([
      { email: VICTIM, emailVerified: true, role: 'owner', name: 'Vera' },
    ]);
  });
});

test('a sign-up link works once and for a day; then the other links stop working', async () => {
  const web = shared();
  await sendForm(web, '/sign-up', { email: VICTIM });
  const first = await linkTo(web.deps, VICTIM);
  await sendForm(web, '/sign-up', { email: VICTIM });
  const second = await linkTo(web.deps, VICTIM);
  const answers = await Promise.all([finish(web, first), finish(web, first), finish(web, first)]);
  const [made, ...refused] = answers.map(({ statusCode }) => statusCode).toSorted();
  expect(made).toBe(303);
  // A mailbox may have two new accounts a day, so the third simultaneous one may be refused by that limit first.
  for (const status of refused) expect([400, 429]).toContain(status);
  expect((await finish(web, second, 'another long password')).statusCode).toBe(400);
  expect((await sendSignIn(web, VICTIM, OWN_PASSWORD)).statusCode).toBe(303);

  await sendForm(web, '/sign-up', { email: 'late@example.org' });
  const late = await linkTo(web.deps, 'late@example.org');
  await web.deps.verifications.updateMany({}, { $set: { expiresAt: new Date(Date.now() - 1_000) } });
  expect((await getPage(web, late)).statusCode).toBe(400);
  expect((await finish(web, late)).statusCode).toBe(400);
});

test('a link for an address with an account creates no second one and changes no password', async () => {
  const web = shared();
  await sendForm(web, '/sign-up', { email: VICTIM });
  const link = await linkTo(web.deps, VICTIM);
  await signIn(web, { email: VICTIM });
  expect((await finish(web, link)).statusCode).toBe(409);
  expect((await sendSignIn(web, VICTIM, PASSWORD)).statusCode).toBe(303);
  expect((await sendSignIn(web, VICTIM, OWN_PASSWORD)).statusCode).toBe(401);
});

test('a refused password or an invalid name does not use up the link', async () => {
  const web = shared();
  await sendForm(web, '/sign-up', { email: VICTIM });
  const link = await linkTo(web.deps, VICTIM);
  const common = await finish(web, link, '0123456789');
  expect(common.statusCode).toBe(400);
  expect(common.body).toContain('This password is too common');
  expect((await finish(web, link)).statusCode).toBe(303);
});

describe('an older unconfirmed account', () => {
  test.each([
    '/sign-up',
    '/forgot-password',
  ])('is its address’s owner’s after %s, and nothing of the stranger’s opens it', async (path) => {
    const web = shared();
    const stranger = await unconfirmed(web);
    const { headers } = await setUpTwoFactor(web, stranger);
    await sendForm(web, path, { email: VICTIM });
    expect((await finish(web, await linkTo(web.deps, VICTIM))).statusCode).toBe(303);
    expect(await isSignedIn(web, stranger.headers)).toBe(false);
    expect(await isSignedIn(web, headers)).toBe(false);
    expect((await sendSignIn(web, VICTIM, PASSWORD)).statusCode).toBe(401);
    const entered = await sendSignIn(web, VICTIM, OWN_PASSWORD);
    // The second factor that the attacker had set up is not required.
    expect(entered.headers.location).toBe('/dashboard');
    expect(await web.deps.users.find().toArray()).toMatchObject([
      { _id: stranger.userId, emailVerified: true },
    ]);
  });

  test('gets at most five mails an hour', async () => {
    const web = shared();
    await unconfirmed(web);
    for (let n = 0; n < 4; n += 1) {
      const from = { 'x-forwarded-for': `192.0.2.${n}` };
      const answer = await sendSignIn(web, VICTIM, PASSWORD, from);
      expect(answer.statusCode).toBe(401);
      expect(answer.body).toContain('Your e-mail address is not confirmed yet.');
      await sendForm(web, '/sign-up', { email: VICTIM }, from);
      await sendForm(web, '/forgot-password', { email: VICTIM }, from);
    }
    expect(await mailsTo(web.deps, VICTIM)).toHaveLength(5);
  });
});

test('an address gets five sign-up links an hour, and earlier ones still work', async () => {
  const web = shared();
  const up = (n: number) =>
    sendForm(web, '/sign-up', { email: VICTIM }, { 'x-forwarded-for': `192.0.2.${n}` });
  expect((await up(1)).statusCode).toBe(200);
  await web.deps.rateLimits.updateMany({ _id: /^link:email:/ }, { $set: { count: 4 } });
  expect((await up(2)).statusCode).toBe(200);
  const refused = await up(3);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain('the links that we sent still work');
  expect(await mailsTo(web.deps, VICTIM)).toHaveLength(2);
  expect((await finish(web, await linkTo(web.deps, VICTIM))).statusCode).toBe(303);
});
