import { ObjectId } from 'mongodb';
import { beforeEach, expect, test } from 'vitest';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { listServersAt } from '../support/servers.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';

const shared = webAppOfFile();
let web: WebApp;
let operator: SignedInUser;
let owner: SignedInUser;
let serverId: ObjectId;

beforeEach(async () => {
  web = shared();
  operator = await signIn(web, { role: 'operator' });
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId, { name: 'Crème de la Craft' });
});

const page = (path = '') => getPage(web, `/operator/servers${path}`, operator.headers);
const act = (path: string, fields: Record<string, string> = {}) =>
  sendForm(web, `/operator/servers/${serverId}/${path}`, fields, operator.headers);
const server = () => web.deps.servers.findOne({ _id: serverId });
const audited = (action: string) => web.deps.auditLog.findOne({ serverId, action });

test('a server is found by name, address, slug, id and its owner’s address', async () => {
  await addOwnedServer(web.deps, operator.userId, { name: 'Other', address: 'other.example.net' });
  const { slug = '' } = (await server()) ?? {};
  for (const q of [
    'creme DE',
    'Crème',
    'play.exam',
    'play.example.org:25565',
    slug,
    `${serverId}`,
    owner.email,
  ]) {
    const { body } = await page(`?q=${encodeURIComponent(q)}`);
    expect(body, q).toContain('Crème de la Craft');
    expect(body, q).not.toContain('>Other<');
  }
  // A part of the name is enough, before any ranking, and also for hidden and removed servers.
  for (const set of [{}, { hiddenAt: new Date() }, { removedAt: new Date() }]) {
    await web.deps.servers.updateOne({ _id: serverId }, { $set: set });
    const { body } = await page('?q=LA+craft');
    expect(body).toContain('Crème de la Craft');
    expect(body).not.toContain('>Other<');
  }
  expect((await page('?q=zzz')).body).toContain('No servers match');
  expect((await page('?q=play.example.org:1')).body).toContain('No servers match');
  expect((await page(`/${new ObjectId()}`)).statusCode).toBe(404);
  expect((await page('/x')).statusCode).toBe(404);
});

test('there are no seven-day figures before the first full day', async () => {
  const set = (daily: object) => web.deps.servers.updateOne({ _id: serverId }, { $set: daily });
  await set({ 'current.onlinePlayers': 12, 'current.maxPlayers': 64 });
  const { body } = await page(`/${serverId}`);
  expect(body).toContain('12 of 64');
  expect(body).not.toContain('in 7 days');
  await set({ 'daily.peakPlayers': 20, 'daily.averagePlayers': 7.5 });
  expect((await page(`/${serverId}`)).body).toContain('12 of 64; in 7 days 7.5 on average, 20 at the peak');
});

test('hiding needs a reason, which the owner sees; the API keeps working with the last rank', async () => {
  await addOwnedServer(web.deps, owner.userId, { name: 'Other' });
  const refused = await act('hide', { reason: ' ' });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('The reason must say why.');
  expect((await act('hide', { reason: '$Bought votes' })).headers.location).toBe(
    `/operator/servers/${serverId}?done=hidden`,
  );
  expect(await server()).toMatchObject({
    hiddenAt: expect.any(Date),
    hiddenReason: '$Bought votes',
    rankPosition: 2,
  });
  expect((await page('?list=hidden')).body).toContain('Crème de la Craft');
  expect(await audited('server.hide')).toMatchObject({
    by: operator.email,
    details: { reason: '$Bought votes' },
  });

  const { token } = await issueToken(web.deps, { serverId, name: 'plugin' });
  const url = await web.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}` };
  const info = await fetch(`${url}/api/v1/servers/${serverId}/info`, { headers });
  expect(await info.json()).toMatchObject({ rank_position: 2 });

  await act('unhide');
  expect(await server()).toMatchObject({ hiddenAt: null });
  expect(await server()).not.toHaveProperty('hiddenReason');
  expect(await audited('server.unhide')).toMatchObject({ by: operator.email });
});

test('premium is turned on and off', async () => {
  await act('premium', { premium: 'on' });
  expect(await server()).toMatchObject({ isPremium: true });
  expect((await page(`/${serverId}?done=premium-on`)).body).toContain('The server is premium now.');
  await act('premium', { premium: 'off' });
  expect(await server()).toMatchObject({ isPremium: false });
  expect((await act('premium', { premium: 'perhaps' })).statusCode).toBe(400);
});

test('a server is transferred to a user with an account, and the old owner loses access', async () => {
  const next = await signIn(web);
  const dashboard = async (who: SignedInUser) => (await getPage(web, '/dashboard', who.headers)).body;
  expect((await act('transfer', { email: 'nobody@example.org' })).body).toContain('Nobody has an account');
  await web.deps.users.updateOne({ _id: next.userId }, { $set: { suspendedAt: new Date() } });
  expect((await act('transfer', { email: next.email })).body).toContain('This user is suspended.');
  await web.deps.users.updateOne({ _id: next.userId }, { $set: { suspendedAt: null } });
  expect((await server())?.ownerId).toEqual(owner.userId);

  expect((await act('transfer', { email: ` ${next.email.toUpperCase()} ` })).statusCode).toBe(303);
  expect((await server())?.ownerId).toEqual(next.userId);
  expect(await audited('server.transfer')).toMatchObject({ details: { to: next.email } });
  expect(await dashboard(owner)).not.toContain('Crème');
  expect(await dashboard(next)).toContain('Crème');
});

test('removing needs the slug and is permanent', async () => {
  const { slug = '' } = (await server()) ?? {};
  const refused = await act('remove', { slug: 'creme' });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain(`Type ${slug} to remove the server.`);
  expect((await server())?.removedAt).toBeNull();
  expect((await act('remove', { slug })).statusCode).toBe(303);
  expect((await server())?.removedAt).toBeInstanceOf(Date);
  const { body } = await page(`/${serverId}`);
  expect(body).toContain('removed');
  expect(body).not.toContain('<h2>Actions</h2>');
  expect((await act('hide', { reason: 'x' })).statusCode).toBe(409);
  expect((await page('?list=removed')).body).toContain('Crème de la Craft');
});

test('servers are listed newest first, page by page', async () => {
  await listServersAt(
    web.deps,
    Array.from({ length: 50 }, (_, i) => i + 1),
    'a-token-of-a-test',
  );
  await addOwnedServer(web.deps, owner.userId, { name: 'The newest' });
  const first = (await page()).body;
  expect(first).toContain('The newest');
  expect(first).not.toContain('Crème de la Craft');
  const older = /href="\/operator\/servers(\?[^"]*)" rel="next"/.exec(first)?.[1] ?? '';
  const second = (await page(older)).body;
  expect(second).not.toContain('The newest');
  expect(second).toContain('Crème de la Craft');
  expect(second).not.toContain('rel="next"');
});
