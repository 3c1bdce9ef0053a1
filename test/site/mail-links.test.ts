import type { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { getPage, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { cookiesOf, isSignedIn, linkTo, mailsTo, sendSignIn, tokenOf } from './account-pages.ts';

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tallyport <votes@example.org>' };
const NEWCOMER = { name: 'Nora Newcomer', email: 'nora@example.org', password: PASSWORD };
const NEW_PASSWORD = 'seven lamps on the quay';

const shared = webAppOfFile({ ...MAIL, TRUST_PROXY: '1' });
let web: WebApp;

beforeEach(() => {
  web = shared();
});

function setPassword(web: WebApp, token: string, password = NEW_PASSWORD) {
  return sendForm(web, '/set-password', { token, password });
}

/** Sends the form behind a sign-up link. */
function finish(web: WebApp, token: string) {
  return sendForm(web, '/verify-email', { token, name: NEWCOMER.name, password: PASSWORD });
}

test('with mail, an account exists only after the address is confirmed with the button', async () => {
  const up = await sendForm(web, '/sign-up', { email: NEWCOMER.email });
  expect(up.body).toContain('Confirm your e-mail address');
  expect(up.cookies).toEqual([]);
  expect((await sendSignIn(web, NEWCOMER.email)).statusCode).toBe(401);
  expect(await mailsTo(web.deps, NEWCOMER.email)).toHaveLength(1);

  const link = await linkTo(web.deps, NEWCOMER.email);
  // Opening a link changes nothing, because mail scanners open links.
  expect((await getPage(web, link)).body).toContain('Create account');
  expect((await sendSignIn(web, NEWCOMER.email)).statusCode).toBe(401);
  const confirmed = await finish(web, tokenOf(link));
  expect(confirmed.headers.location).toBe('/sign-in?done=verified');
  expect(confirmed.cookies).toEqual([]);
  const signedIn = await sendSignIn(web, NEWCOMER.email);
  expect(await isSignedIn(web, cookiesOf(signedIn))).toBe(true);
});

test('a sign-up leads back to the page where it began, also through the mail, whose link does not contain it', async () => {
  const next = '/favourites/0123456789abcdef01234567';
  await sendForm(web, '/sign-up', { email: NEWCOMER.email, next });
  const link = await linkTo(web.deps, NEWCOMER.email);
  expect(link).toMatch(/^\/verify-email\?token=[\w-]+$/);
  const confirmed = await finish(web, tokenOf(link));
  expect(confirmed.headers.location).toBe(`/sign-in?done=verified&next=${encodeURIComponent(next)}`);

  await sendForm(web, '/sign-up', { email: 'other@example.org', next: '//elsewhere.example' });
  const other = await finish(web, tokenOf(await linkTo(web.deps, 'other@example.org')));
  expect(other.headers.location).toBe('/sign-in?done=verified');
});

test('an invalid confirmation link says what to do', async () => {
  await sendForm(web, '/sign-up', NEWCOMER);
  const token = tokenOf(await linkTo(web.deps, NEWCOMER.email));
  for (const wrong of ['', 'x', token.slice(0, -4), `${token}x`, 'y'.repeat(5_000)]) {
    const answer = await finish(web, wrong);
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain('This link does not work');
  }
  expect((await getPage(web, '/verify-email')).statusCode).toBe(400);
});

test('with mail, no page reveals whether an address is known', async () => {
  const { email } = await signIn(web);
  const shown = (body: string, typed: string) => body.replaceAll(typed, 'ADDRESS');
  const forgot = (address: string) => sendForm(web, '/forgot-password', { email: address });
  const [known, unknown] = [await forgot(email), await forgot('nobody@example.org')];
  expect(known.statusCode).toBe(200);
  expect(unknown.statusCode).toBe(200);
  expect(shown(known.body, email)).toBe(shown(unknown.body, 'nobody@example.org'));
  expect(await mailsTo(web.deps, 'nobody@example.org')).toEqual([]);

  const up = (address: string) => sendForm(web, '/sign-up', { ...NEWCOMER, email: address });
  const [again, first] = [await up(email), await up('new@example.org')];
  expect(again.statusCode).toBe(200);
  expect(shown(again.body, email)).toBe(shown(first.body, 'new@example.org'));
  // The owner of the address gets only one mail, although the form was sent twice.
  await up(email);
  const letters = await mailsTo(web.deps, email);
  expect(letters.filter((text) => text.includes('has an account there already'))).toHaveLength(1);
});

test('an address that the sign-in library refuses gets a link too', async () => {
  const { email } = await signIn(web, { email: 'a/b@example.org' });
  expect((await sendForm(web, '/forgot-password', { email })).statusCode).toBe(200);
  const [letter = ''] = await mailsTo(web.deps, email);
  const [link = ''] = /\/set-password\?token=\S+/.exec(letter) ?? [];
  expect((await setPassword(web, tokenOf(link))).headers.location).toBe('/sign-in?done=password-set');
});

test('a link sets a password once, ends all sessions and invalidates the old password', async () => {
  const { email, headers } = await signIn(web);
  await sendForm(web, '/forgot-password', { email });
  await sendForm(web, '/forgot-password', { email });
  const letters = await mailsTo(web.deps, email);
  const [other = '', link = ''] = letters.map((text) => /\/set-password\?token=\S+/.exec(text)?.[0]);

  expect((await getPage(web, link)).body).toContain('Set password');
  expect((await setPassword(web, tokenOf(link), 'short')).statusCode).toBe(400);
  const set = await setPassword(web, tokenOf(link));
  expect(set.headers.location).toBe('/sign-in?done=password-set');
  expect(await isSignedIn(web, headers)).toBe(false);
  expect((await sendSignIn(web, email, PASSWORD)).statusCode).toBe(401);
  expect((await sendSignIn(web, email, NEW_PASSWORD)).statusCode).toBe(303);

  for (const token of [tokenOf(link), tokenOf(other), 'x', '']) {
    const answer = await setPassword(web, token, 'another long password');
    expect(answer.statusCode, token).toBe(400);
    expect(answer.body).toContain('This link does not work');
  }
  expect((await getPage(web, link)).statusCode).toBe(400);
  expect((await getPage(web, '/set-password')).statusCode).toBe(400);
});

test('a link works for an hour', async () => {
  const { email } = await signIn(web);
  await sendForm(web, '/forgot-password', { email });
  const link = await linkTo(web.deps, email);
  const { expiresAt } = (await web.deps.verifications.findOne({})) ?? {};
  expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(HOUR);
  await web.deps.verifications.updateMany({}, { $set: { expiresAt: new Date(Date.now() - 1_000) } });
  expect((await getPage(web, link)).statusCode).toBe(400);
  expect((await setPassword(web, tokenOf(link))).statusCode).toBe(400);
});

test('an address gets five links an hour', async () => {
  const { email } = await signIn(web);
  const ask = (n: number) =>
    sendForm(web, '/forgot-password', { email }, { 'x-forwarded-for': `192.0.2.${n}` });
  expect((await ask(1)).statusCode).toBe(200);
  await web.deps.rateLimits.updateMany({ _id: /^link:email:/ }, { $set: { count: 4 } });
  expect([(await ask(2)).statusCode, (await ask(3)).statusCode]).toEqual([200, 429]);
  expect(await mailsTo(web.deps, email)).toHaveLength(2);
  // A user at this limit can still sign in.
  expect((await sendSignIn(web, email)).statusCode).toBe(303);
});

test('mails contain no text entered by others', async () => {
  await sendForm(web, '/sign-up', { ...NEWCOMER, name: 'Win money at evil.example' });
  const [text = ''] = await mailsTo(web.deps, NEWCOMER.email);
  expect(text).toContain('/verify-email?token=');
  expect(text).not.toContain('evil.example');
});

test('a user gets the imported servers of their confirmed address, once, and not before', async () => {
  const { deps } = web;
  const theirs = await addOwnedServer(deps, (await signIn(web)).userId);
  const waiting: ObjectId[] = [];
  for (const name of ['Alpha', 'Beta']) {
    const serverId = await addOwnedServer(deps, (await signIn(web)).userId, { name });
    waiting.push(serverId);
    await deps.servers.updateOne(
      { _id: serverId },
      { $set: { ownerEmail: NEWCOMER.email }, $unset: { ownerId: '' } },
    );
  }
  // A server that already has an owner keeps its owner.
  await deps.servers.updateOne({ _id: theirs }, { $set: { ownerEmail: NEWCOMER.email } });
  await sendForm(web, '/sign-up', NEWCOMER);
  const owned = () => deps.servers.countDocuments({ ownerId: { $exists: true }, _id: { $in: waiting } });
  expect(await owned()).toBe(0);
  await finish(web, tokenOf(await linkTo(deps, NEWCOMER.email)));
  expect(await owned()).toBe(2);
  await sendSignIn(web, NEWCOMER.email);
  await sendSignIn(web, NEWCOMER.email);
  const entries = await deps.auditLog.find({ action: 'server.claim' }).toArray();
  expect(entries.map(({ by }) => by)).toEqual([NEWCOMER.email, NEWCOMER.email]);
});

describe('without mail', () => {
  const silent = webAppOfFile();

  test('the page refers to the operator', async () => {
    const web = silent();
    expect((await getPage(web, '/forgot-password')).body).toContain('Ask its operator for a link');
    const answer = await sendForm(web, '/forgot-password', { email: 'a@example.org' });
    expect(answer.statusCode).toBe(404);
    expect(await web.deps.verifications.countDocuments()).toBe(0);
  });

  test('an unconfirmed address gets no server', async () => {
    const web = silent();
    const serverId = await addOwnedServer(web.deps, (await signIn(web)).userId);
    await web.deps.servers.updateOne(
      { _id: serverId },
      { $set: { ownerEmail: NEWCOMER.email }, $unset: { ownerId: '' } },
    );
    await sendForm(web, '/sign-up', NEWCOMER);
    await sendSignIn(web, NEWCOMER.email);
    expect((await web.deps.servers.findOne({ _id: serverId }))?.ownerId).toBeUndefined();
  });
});
