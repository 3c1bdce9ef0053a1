import type { ObjectId } from 'mongodb';
import { beforeEach, expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { mailsTo } from './account-pages.ts';

const STRANGER = 'stranger@example.org';

const shared = webAppOfFile({
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'Tallyport <votes@example.org>',
  TRUST_PROXY: '1',
});
let web: WebApp;

beforeEach(() => {
  web = shared();
});

/** Creates a user with servers, whose requests come from a network of their own. */
async function ownerWith(servers: number, network: number) {
  const owner = await signIn(web);
  const ids: ObjectId[] = [];
  for (let i = 0; i < servers; i += 1) {
    const port = 25_565 + i;
    ids.push(await addOwnedServer(web.deps, owner.userId, { address: `n${network}.example.org`, port }));
  }
  return { owner, ids, from: { 'x-forwarded-for': `203.0.113.${network}` } };
}

function invite(
  { owner, from }: { owner: SignedInUser; from: Record<string, string> },
  id: ObjectId | undefined,
  email: string,
) {
  const path = `/dashboard/servers/${id?.toHexString()}/members`;
  return sendForm(web, path, { email, role: 'read' }, { ...owner.headers, ...from });
}

test('a user who invites a stranger to several servers causes one mail, and all invitations are stored', async () => {
  const some = await ownerWith(4, 1);
  const answers = [];
  for (const id of some.ids) answers.push((await invite(some, id, STRANGER)).statusCode);
  expect(answers).toEqual(answers.map(() => 303));
  expect(await mailsTo(web.deps, STRANGER)).toHaveLength(1);
  expect(await web.deps.servers.countDocuments({ 'invitations.email': STRANGER })).toBe(4);
});

test('invitations at the same moment cause one mail too', async () => {
  const some = await ownerWith(6, 2);
  await Promise.all(some.ids.map((id) => invite(some, id, STRANGER)));
  expect(await mailsTo(web.deps, STRANGER)).toHaveLength(1);
});

test('an address gets five mails an hour, whichever users, networks and pages cause them', async () => {
  const from = (network: number) => ({ 'x-forwarded-for': `203.0.113.${network}` });
  for (const network of [11, 12, 13]) {
    const one = await ownerWith(1, network);
    expect((await invite(one, one.ids[0], STRANGER)).statusCode).toBe(303);
  }
  expect((await sendForm(web, '/sign-up', { email: STRANGER }, from(14))).statusCode).toBe(200);
  const changing = await signIn(web);
  const change = { email: STRANGER, password: PASSWORD };
  const changed = await sendForm(web, '/account/email', change, { ...changing.headers, ...from(15) });
  expect(changed.statusCode).toBe(200);
  expect(await mailsTo(web.deps, STRANGER)).toHaveLength(5);

  const late = await ownerWith(1, 16);
  const refused = await invite(late, late.ids[0], ` ${STRANGER.toUpperCase()} `);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain('Too many invitations by you, to this address or from your network.');
  const invited = await web.deps.servers.findOne({ ownerId: late.owner.userId });
  expect(invited?.invitations ?? []).toEqual([]);
  expect((await sendForm(web, '/forgot-password', { email: STRANGER }, from(17))).statusCode).toBe(429);
  expect(await mailsTo(web.deps, STRANGER)).toHaveLength(5);
});

test('an account with an unconfirmed address causes no mail to it: it may be a stranger’s', async () => {
  const user = await signIn(web, { email: STRANGER });
  await web.deps.users.updateOne({ _id: user.userId }, { $set: { emailVerified: false } });
  const send = (path: string, fields: Record<string, string>) => sendForm(web, path, fields, user.headers);
  for (let i = 0; i < 3; i += 1) {
    expect((await send('/account/delete', { password: PASSWORD })).statusCode).toBe(303);
    expect((await send('/account/delete/cancel', {})).statusCode).toBe(303);
  }
  const password = { current: PASSWORD, password: 'seven lamps on the quay' };
  await send('/account/password', password);
  expect(await web.deps.auditLog.countDocuments({ action: 'account.delete-requested' })).toBe(3);
  expect(await web.deps.auditLog.countDocuments({ action: 'account.password' })).toBe(1);
  expect(await mailsTo(web.deps, STRANGER)).toEqual([]);
});

test('a change of address counts the mail to an unconfirmed present address too', async () => {
  await sendForm(web, '/sign-up', { email: STRANGER });
  await web.deps.rateLimits.updateMany({ _id: /^link:email:/ }, { $set: { count: 5 } });
  const user = await signIn(web, { email: STRANGER });
  await web.deps.users.updateOne({ _id: user.userId }, { $set: { emailVerified: false } });
  const change = { email: 'other@example.org', password: PASSWORD };
  expect((await sendForm(web, '/account/email', change, user.headers)).statusCode).toBe(429);
  expect(await mailsTo(web.deps, STRANGER)).toHaveLength(1);
});
