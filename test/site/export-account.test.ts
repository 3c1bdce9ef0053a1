import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { requestDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { addFavourite, noteUsername } from '../../src/favourites/favourites.ts';
import { complain } from '../../src/moderation/complaints.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { exportAccount, MOST_EXPORTED } from '../../src/workflows/export-account.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { setUpTwoFactor } from './account-pages.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

const download = ({ headers }: Pick<SignedInUser, 'headers'>) =>
  sendForm(web, '/account/export', {}, headers);

test('the file has what belongs to the user, and no secret', async () => {
  const { deps } = web;
  const [user, other] = [await signIn(web), await signIn(web)];
  const own = await addOwnedServer(deps, user.userId, {
    name: 'Own "Craft"',
    address: 'own.example.org',
  });
  const others = await addOwnedServer(deps, other.userId, {
    name: 'Other',
    address: 'other.example.org',
  });
  const { token } = await issueToken(deps, { serverId: own, name: 'plugin' });
  const { token: secret } = new VotifierListener();
  const settings = { protocol: 'votifier-v2', host: 'play.example.org', port: 8_192, secret } as const;
  await setListener(deps, own, { ...settings, serviceName: 'Tallyport' }, user.email);
  for (const [serverId, who] of [
    [others, user],
    [own, other],
  ] as const) {
    const review = { username: 'Steve', rating: 5, content: `Words of ${who.email} \u2028 "quoted"` };
    await saveOwnReview(deps, { serverId, userId: who.userId }, review);
  }
  await addFavourite(deps, user.userId, others);
  await noteUsername(deps, user.userId, 'Steve');
  const from = { address: '203.0.113.7', userId: user.userId };
  await complain(deps, others, { kind: 'other', text: 'It is a copy.' }, from);
  const profile = { shortText: 'Words of the owner', tags: ['pvp'] };
  await deps.servers.updateOne({ _id: own }, { $set: { profile } });
  const member = { userId: user.userId, role: 'read' as const, at: new Date() };
  await deps.servers.updateOne({ _id: others }, { $set: { members: [member] } });
  const { headers, secret: appSecret, backupCodes } = await setUpTwoFactor(web, user);
  const me = await deps.users.findOne({ _id: user.userId });
  if (me) await requestDeletion(deps, me);

  const answer = await download({ headers });
  expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="account-[\d-]+\.json"$/);
  expect(answer.headers['cache-control']).toBe('no-store');
  const file = answer.json();
  expect(file).toMatchObject({
    account: { email: user.email, two_factor: true, signs_in_with: ['password'], role: 'owner' },
    servers: [
      {
        name: 'Own "Craft"',
        profile: { short_text: 'Words of the owner', tags: ['pvp'] },
        tokens: [{ name: 'plugin', kind: 'api' }],
        listener: { protocol: 'votifier-v2', address: 'play.example.org:8192' },
      },
    ],
    reviews: [{ server_id: others.toHexString(), content: `Words of ${user.email} \u2028 "quoted"` }],
    memberships: [{ server_id: others.toHexString(), role: 'read' }],
    complaints: [{ server_id: others.toHexString(), text: 'It is a copy.' }],
    favourites: [{ server_id: others.toHexString() }],
    last_player_name: 'Steve',
    truncated: [],
  });
  expect(file.account.deletion.due_at).toBeTruthy();
  expect(file.sessions.length).toBeGreaterThan(0);
  expect(file.audit_log.map(({ action }: { action: string }) => action)).toContain('listener.set');
  const stored = await Promise.all([
    deps.sessions.find({ userId: user.userId }).toArray(),
    deps.apiTokens.find({ serverId: own }).toArray(),
    deps.credentials.find({ userId: user.userId }).toArray(),
    deps.twoFactors.find({ userId: user.userId }).toArray(),
    deps.accountDeletions.find({ _id: user.userId }).toArray(),
    deps.listeners.find({ serverId: own }).toArray(),
  ]);
  const secrets =
    JSON.stringify(stored).match(/"(token|hash|password|secret|backupCodes|sealed\w*)":"[^"]+"/g) ?? [];
  expect(secrets.length).toBeGreaterThan(4);
  const values = secrets.map((one) => one.split(':"')[1]?.slice(0, -1) ?? '');
  for (const value of [...values, token, secret, appSecret, ...backupCodes, other.email]) {
    expect(answer.body).not.toContain(value);
  }
});

test('lists are bounded, and the file names the lists that have more', async () => {
  const { deps } = web;
  const { userId } = await signIn(web);
  const most = MOST_EXPORTED.sessions;
  const now = new Date();
  const sessions = Array.from({ length: most }, (_, n) => ({
    _id: new ObjectId(),
    userId,
    token: `${userId.toHexString()}-${n}`,
    createdAt: now,
    updatedAt: now,
    expiresAt: now,
  }));
  await deps.sessions.insertMany(sessions as never);
  const user = await deps.users.findOne({ _id: userId });
  if (!user) throw new Error('not there');
  let text = '';
  for await (const piece of exportAccount(deps, user)) text += piece;
  const file = JSON.parse(text);
  expect(file.sessions).toHaveLength(most);
  expect(file.truncated).toEqual(['sessions']);
});

test('three exports in an hour', async () => {
  const user = await signIn(web);
  for (let n = 0; n < 3; n += 1) expect((await download(user)).statusCode).toBe(200);
  const refused = await download(user);
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['content-disposition']).toBeUndefined();
});

test('the audit log of an earlier user of the address is left out', async () => {
  const { deps } = web;
  const { userId, email, headers } = await signIn(web);
  const entry = (at: Date, action: string) => ({
    _id: new ObjectId(),
    at,
    by: email,
    action,
    serverId: null,
    details: {},
  });
  const taken = after(new Date(), MINUTE);
  await deps.auditLog.insertMany([entry(new Date(), 'of.another'), entry(taken, 'of.this')]);
  await deps.users.updateOne({ _id: userId }, { $set: { emailChangedAt: taken } });
  const { audit_log } = (await download({ headers })).json();
  expect(audit_log.map(({ action }: { action: string }) => action)).toEqual(['of.this']);
});
