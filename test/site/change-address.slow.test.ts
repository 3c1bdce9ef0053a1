import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { confirmAddressChange, finishAddressChanges } from '../../src/accounts/address/change-address.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
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

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp(MAIL);
});
// All requests come from one network, which has a limit of mails.
beforeEach(() => web.deps.rateLimits.deleteMany({}));

const newAddress = () => `moved-${randomUUID()}@example.org`;

const request = ({ headers }: Pick<SignedInUser, 'headers'>, email: string, more = {}) =>
  sendForm(web, '/account/email', { email, password: PASSWORD, ...more }, headers);

const decide = (token: string, decision: 'confirm' | 'cancel' = 'confirm') =>
  sendForm(web, '/confirm-address', { token, decision });

const addressOf = async ({ userId }: SignedInUser) => (await web.deps.users.findOne({ _id: userId }))?.email;

/** Creates a user who has requested another address. Returns the tokens of both links. */
async function requested() {
  const user = await signIn(web);
  const to = newAddress();
  const sent = await request(user, to.toUpperCase());
  expect(sent.statusCode, sent.body).toBe(200);
  const [oldToken, newToken] = [
    tokenOf(await linkTo(web.deps, user.email)),
    tokenOf(await linkTo(web.deps, to)),
  ];
  return { user, to, oldToken, newToken };
}

test.each(['old first', 'new first'])('both ends confirm before the address changes: %s', async (order) => {
  const { user, to, oldToken, newToken } = await requested();
  const elsewhere = cookiesOf(await sendSignIn(web, user.email));
  // Opening a link changes nothing, because mail scanners open links.
  for (const token of [oldToken, newToken]) {
    expect((await getPage(web, `/confirm-address?token=${token}`)).body).toContain('Confirm');
  }
  const [first, second] = order === 'old first' ? [oldToken, newToken] : [newToken, oldToken];
  expect((await decide(first)).body).toContain('One address is confirmed');
  expect((await decide(first)).body).toContain('One address is confirmed');
  expect(await addressOf(user)).toBe(user.email);
  expect((await getPage(web, '/account', user.headers)).body).toContain(to);
  expect((await decide(second)).body).toContain('The address is changed');
  expect(await addressOf(user)).toBe(to);
  expect(await isSignedIn(web, user.headers)).toBe(true);
  expect(await isSignedIn(web, elsewhere)).toBe(false);
  expect((await sendSignIn(web, user.email)).statusCode).toBe(401);
  expect((await sendSignIn(web, to)).statusCode).toBe(303);
  for (const address of [user.email, to]) {
    expect((await mailsTo(web.deps, address)).at(-1)).toContain(`from ${user.email} to ${to}`);
  }
  expect((await decide(second)).statusCode).toBe(400);
  const entries = await web.deps.auditLog.find({ action: 'account.email', by: user.email }).toArray();
  expect(entries.map(({ details }) => details)).toEqual([
    { personId: user.userId.toHexString(), from: user.email, to },
  ]);
});

test('both ends at once change the address once', async () => {
  const { user, to, oldToken, newToken } = await requested();
  await Promise.all([oldToken, newToken, oldToken, newToken].map((token) => decide(token)));
  expect(await addressOf(user)).toBe(to);
  expect(await mailsTo(web.deps, to)).toHaveLength(2);
  expect(await web.deps.auditLog.countDocuments({ action: 'account.email', by: user.email })).toBe(1);
});

test('the old address and the user cancel a change; the new address cannot', async () => {
  const byLink = await requested();
  await decide(byLink.newToken, 'cancel');
  expect((await decide(byLink.oldToken, 'cancel')).body).toContain('The change is cancelled');
  const byUser = await requested();
  const cancelled = await sendForm(web, '/account/email/cancel', {}, byUser.user.headers);
  expect(cancelled.headers.location).toBe('/account?done=email-cancelled');
  for (const { user, oldToken, newToken } of [byLink, byUser]) {
    for (const token of [oldToken, newToken]) expect((await decide(token)).statusCode).toBe(400);
    expect(await addressOf(user)).toBe(user.email);
  }
});

test.each(['changed', 'set by a link'])('a new password, %s, cancels a change', async (how) => {
  const { user, oldToken, newToken } = await requested();
  const password = 'seven lamps on the quay';
  if (how === 'changed') {
    await sendForm(web, '/account/password', { current: PASSWORD, password }, user.headers);
  } else {
    await sendForm(web, '/forgot-password', { email: user.email });
    const token = tokenOf(await linkTo(web.deps, user.email));
    await sendForm(web, '/set-password', { token, password });
  }
  expect((await sendSignIn(web, user.email, password)).statusCode).toBe(303);
  for (const token of [oldToken, newToken]) expect((await decide(token)).statusCode).toBe(400);
});

test('a newer request and three days end the links of a change', async () => {
  const { user, oldToken, newToken } = await requested();
  await request(user, newAddress());
  for (const token of [oldToken, newToken]) expect((await decide(token)).statusCode).toBe(400);
  const late = await requested();
  const clock = { now: () => after(new Date(), 3 * DAY) };
  expect(await confirmAddressChange({ ...web.deps, clock }, late.oldToken)).toBe('useless-link');
});

test('no answer reveals whether another account has the address; only its owner gets a mail', async () => {
  const holder = await signIn(web);
  const [one, two] = [await signIn(web), await signIn(web)];
  const free = newAddress();
  const shown = (body: string, ...typed: string[]) =>
    typed.reduce((text, address) => text.replaceAll(address, 'ADDRESS'), body);
  const [known, unknown] = [await request(one, holder.email), await request(two, free)];
  expect(shown(known.body, one.email, holder.email)).toBe(shown(unknown.body, two.email, free));
  const [mail] = await mailsTo(web.deps, holder.email);
  expect(mail).toContain('has an account there already');
  expect(mail).not.toContain('token=');
  expect(await mailsTo(web.deps, one.email)).toHaveLength(1);
});

test('an address that another account has taken meanwhile is not given', async () => {
  const { user, to, oldToken, newToken } = await requested();
  await decide(oldToken);
  await signIn(web, { email: to });
  const answer = await decide(newToken);
  expect(answer.statusCode).toBe(409);
  expect(await addressOf(user)).toBe(user.email);
});

test('a change that was interrupted after the second confirmation is completed later', async () => {
  const { user, to, oldToken, newToken } = await requested();
  const elsewhere = cookiesOf(await sendSignIn(web, user.email));
  await decide(oldToken);
  const dies = () => Promise.reject(new Error('killed'));
  const sessions = Object.assign(Object.create(web.deps.sessions), { deleteMany: dies });
  await expect(confirmAddressChange({ ...web.deps, sessions }, newToken)).rejects.toThrow('killed');
  expect(await isSignedIn(web, elsewhere)).toBe(true);
  expect(await finishAddressChanges(web.deps)).toBe(1);
  expect(await isSignedIn(web, elsewhere)).toBe(false);
  expect(await addressOf(user)).toBe(to);
  expect(await finishAddressChanges(web.deps)).toBe(0);
});

describe('a request is refused', () => {
  test.each([
    ['without the password', { password: '' }, 'Enter your password.'],
    ['with a wrong password', { password: 'four ships in the bay' }, 'The password is wrong.'],
    ['without an address', { email: 'nobody' }, 'Must be an e-mail address.'],
    ['with a huge address', { email: `${'x'.repeat(250)}@example.org` }, 'at most 254 characters'],
  ])('%s', async (_, fields, sentence) => {
    const user = await signIn(web);
    const { statusCode, body } = await request(user, newAddress(), fields);
    expect(statusCode).toBe(400);
    expect(body).toContain(sentence);
    expect(await mailsTo(web.deps, user.email)).toEqual([]);
  });

  test('with the present address, and without a code of the second factor', async () => {
    const user = await signIn(web);
    expect((await request(user, user.email)).body).toContain('your e-mail address already');
    const { headers, backupCodes } = await setUpTwoFactor(web, user);
    expect((await request({ headers }, newAddress())).body).toContain('Enter a code.');
    expect((await request({ headers }, newAddress(), { code: backupCodes[0] })).statusCode).toBe(200);
  });

  test('after five in a day', async () => {
    const user = await signIn(web);
    for (let n = 0; n < 5; n += 1) expect((await request(user, newAddress())).statusCode).toBe(200);
    expect((await request(user, newAddress())).statusCode).toBe(429);
  });
});

test('without mail, the address changes at once and is not confirmed', async () => {
  const silent = await openWebApp();
  const [user, other] = [await signIn(silent), await signIn(silent)];
  const elsewhere = cookiesOf(await sendSignIn(silent, user.email));
  const to = newAddress();
  const change = (email: string) =>
    sendForm(silent, '/account/email', { email, password: PASSWORD }, user.headers);
  expect((await change(other.email)).statusCode).toBe(409);
  expect((await change(to)).headers.location).toBe('/account?done=email');
  expect(await silent.deps.users.findOne({ _id: user.userId })).toMatchObject({
    email: to,
    emailVerified: false,
  });
  expect(await isSignedIn(silent, elsewhere)).toBe(false);
  expect(await isSignedIn(silent, user.headers)).toBe(true);
});
