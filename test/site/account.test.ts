import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { KIND_NAMES, wantsMailOf } from '../../src/notifications/kinds.ts';
import { agentName } from '../../src/site/accounts/own-account-views.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { cookiesOf, isSignedIn, sendSignIn } from './account-pages.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

const NEW_PASSWORD = 'seven lamps on the quay';

test('changing the password needs the current one and ends all other sessions', async () => {
  const { email, headers } = await signIn(web);
  const elsewhere = cookiesOf(await sendSignIn(web, email));
  const change = (current: string, password: string) =>
    sendForm(web, '/account/password', { current, password }, headers);
  const wrong = await change('four ships in the bay', NEW_PASSWORD);
  expect(wrong.statusCode).toBe(400);
  expect(wrong.body).toContain('The current password is wrong.');
  expect((await change(PASSWORD, 'short')).body).toContain('at least 10 characters');
  expect(await isSignedIn(web, elsewhere)).toBe(true);

  const changed = await change(PASSWORD, NEW_PASSWORD);
  expect(changed.headers.location).toBe('/account?done=password');
  expect(await isSignedIn(web, cookiesOf(changed))).toBe(true);
  expect(await isSignedIn(web, elsewhere)).toBe(false);
  expect(await isSignedIn(web, headers)).toBe(false);
  expect((await sendSignIn(web, email, NEW_PASSWORD)).statusCode).toBe(303);
});

test('a user can end only their own sessions', async () => {
  const { sessions } = web.deps;
  const { email, headers, userId } = await signIn(web);
  const stranger = await signIn(web);
  const phone = cookiesOf(
    await sendSignIn(web, email, PASSWORD, { 'user-agent': 'Mozilla/5.0 (Android 15) Firefox/140.0' }),
  );
  const page = await getPage(web, '/account', headers);
  expect(page.body).toContain('Firefox on Android');
  expect(page.body).toContain('this session');
  const other = await sessions.findOne({ userId: userId, userAgent: /Firefox/ });
  const end = `/account/sessions/${other?._id.toHexString()}/end`;
  await sendForm(web, end, {}, stranger.headers);
  expect(await isSignedIn(web, phone)).toBe(true);
  expect((await sendForm(web, end, {}, headers)).headers.location).toBe('/account?done=session');
  expect(await isSignedIn(web, phone)).toBe(false);
  expect(await isSignedIn(web, headers)).toBe(true);
  expect((await sendForm(web, '/account/sessions/x/end', {}, headers)).statusCode).toBe(404);
});

test('signing out everywhere ends all sessions on the server', async () => {
  const { email, headers } = await signIn(web);
  const other = cookiesOf(await sendSignIn(web, email));
  const bystander = await signIn(web);
  const out = await sendForm(web, '/account/sessions/end-all', {}, headers);
  expect(out.headers.location).toBe('/sign-in?done=signed-out-everywhere');
  expect(await isSignedIn(web, headers)).toBe(false);
  expect(await isSignedIn(web, other)).toBe(false);
  expect(await isSignedIn(web, bystander.headers)).toBe(true);
});

test('the name is changed, escaped and shown; an invalid name is refused beside its field', async () => {
  const { headers, userId } = await signIn(web);
  const name = '<b>Nora</b> & "Co"';
  await sendForm(web, '/account/name', { name }, headers);
  const page = await getPage(web, '/account?done=name', headers);
  expect(page.body).toContain('Name updated.');
  expect(page.body).toContain('&lt;b&gt;Nora&lt;/b&gt; &amp; &quot;Co&quot;');
  const empty = await sendForm(web, '/account/name', { name: ' ' }, headers);
  expect(empty.statusCode).toBe(400);
  expect(empty.body).toContain('id="name-error"');
  const mail = await sendForm(web, '/account/name', { name: 'nora@example.org' }, headers);
  expect([mail.statusCode, mail.body.includes('not an e-mail address')]).toEqual([400, true]);
  expect((await web.deps.users.findOne({ _id: userId }))?.name).toBe(name);
});

test('extra form fields cannot change role, suspension or a confirmed address', async () => {
  const slipped = { role: 'operator', emailVerified: 'true', suspendedAt: '', twoFactorEnabled: 'true' };
  const form = { name: 'Nora', email: 'nora@example.org', password: PASSWORD, ...slipped };
  const up = await sendForm(web, '/sign-up', form);
  await sendForm(web, '/account/name', { name: 'Nora', ...slipped }, cookiesOf(up));
  expect(await web.deps.users.findOne({ email: form.email })).toMatchObject({
    role: 'owner',
    emailVerified: false,
    twoFactorEnabled: false,
  });
});

describe('a sign-up without mail', () => {
  const form = { name: 'Nora', email: 'Twice@example.org', password: PASSWORD };
  const signUp = () => sendForm(web, '/sign-up', form);

  test('is answered with an error of the site if the database refuses the account', async () => {
    const { db } = web.deps.mongo;
    await db.command({ collMod: 'people', validator: { email: { $ne: 'twice@example.org' } } });
    const failed = await signUp().finally(() => db.command({ collMod: 'people', validator: {} }));
    expect(failed.statusCode).toBe(500);
    expect(failed.body).not.toContain('already exists');
  });

  test('of a taken address is refused, also if both sign-ups run at the same time', async () => {
    const answers = await Promise.all([signUp(), signUp()]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 409]);
    expect((await signUp()).body).toContain('An account with this e-mail address already exists.');
  });
});

test('e-mail notifications are chosen by kind if the listing sends mail', async () => {
  const mailing = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' });
  const { headers, userId } = await signIn(mailing);
  const wants = async () => {
    const user = await mailing.deps.users.findOne({ _id: userId });
    return user ? KIND_NAMES.filter((kind) => wantsMailOf(user, kind)) : [];
  };
  expect(await wants()).toEqual(KIND_NAMES);
  expect((await getPage(mailing, '/account', headers)).body).toContain('E-mail me about my servers');
  const choose = (fields: Record<string, string>) => sendForm(mailing, '/account/mail', fields, headers);
  await choose({ kinds: 'chosen' });
  expect(await wants()).toEqual([]);
  await choose({ kinds: 'chosen', 'kind-review': 'yes', 'kind-listener': 'yes', 'kind-unknown': 'yes' });
  expect(await wants()).toEqual(['listener', 'review']);
  const { body } = await getPage(mailing, '/account', headers);
  const ticked = [...body.matchAll(/id="mail-(\w+)"[^>]*checked/g)].map(([, kind]) => kind);
  expect(ticked).toEqual(['listener', 'review']);
  // If a form of an earlier version was open during the upgrade: sending it changes nothing.
  expect((await choose({ wantsMail: 'yes' })).statusCode).toBe(400);
  expect(await wants()).toEqual(['listener', 'review']);
  const owner = await signIn(web);
  expect((await getPage(web, '/account', owner.headers)).body).not.toContain('E-mail me');
});

test('a session of a deleted account is not signed in', async () => {
  const { headers, userId } = await signIn(web);
  await web.deps.users.deleteOne({ _id: userId });
  expect(await isSignedIn(web, headers)).toBe(false);
  expect(userId).toBeInstanceOf(ObjectId);
});

test.each([
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/18.0 Safari/605.1.15', 'Safari on macOS'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140.0 Safari/604.1', 'Chrome on iOS'],
  ['curl/8.0', 'Unknown browser'],
  ['', 'Unknown browser'],
])('%s is %s', (userAgent, name) => {
  expect(agentName(userAgent)).toBe(name);
});
