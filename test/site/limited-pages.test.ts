import { expect, test } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { networkOf } from '../../src/platform/limits/network-of.ts';
import { PAGES_A_MINUTE } from '../../src/site/limited-pages.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { CHEAP_PASSWORDS, getPage, openWebApp, openWebAppOn } from '../support/web-app.ts';

test('a network causes 300 pages a minute; pages from the cache, images and other networks do not count', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const owner = await signIn(web);
  for (const name of ['Alpha', 'Beta']) await addOwnedServer(web.deps, owner.userId, { name });
  const ofNetwork = (address: string) => web.deps.rateLimits.findOne({ _id: `pages:address:${address}` });
  const visit = (path: string, address: string, headers: Record<string, string> = {}) =>
    getPage(web, path, { 'x-forwarded-for': address, ...headers });

  for (let n = 0; n < 3; n += 1) expect((await visit('/servers/alpha', '192.0.2.7')).statusCode).toBe(200);
  // At least the first of the three pages counts. On a slow machine the cache may expire before the others.
  const { count: made = 0 } = (await ofNetwork('192.0.2.7')) ?? {};
  expect(made).toBeGreaterThan(0);

  expect(PAGES_A_MINUTE).toBe(300);
  const resetAt = after(web.deps.clock.now(), MINUTE);
  const used = { $set: { count: PAGES_A_MINUTE, resetAt } };
  for (const address of ['192.0.2.8', '2001:db8:1:2::5']) {
    const _id = `pages:address:${networkOf(address)}`;
    await web.deps.rateLimits.updateOne({ _id }, used, { upsert: true });
  }
  for (const address of ['192.0.2.8', '2001:db8:1:2::5']) {
    for (const path of [
      '/servers/beta',
      '/servers/beta/vote',
      '/?page=1&sort=players',
      '/sitemaps/pages.xml',
    ]) {
      const refused = await visit(path, address);
      expect(refused.statusCode, path).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await visit('/servers/beta/banner.svg', address)).statusCode).toBe(200);
    // The owner is signed in and has a limit of their own.
    expect((await visit('/servers/beta', address, owner.headers)).statusCode).toBe(200);
  }
  const refused = await visit('/servers/beta', '192.0.2.8', { 'accept-language': 'de' });
  expect(refused.body).toContain('Zu viele Seiten von deiner Netzwerkadresse oder deinem Konto.');
  const { statusCode } = await visit('/servers/beta', '192.0.2.9');
  expect(statusCode).toBe(200);
  // Another visitor has just requested this page, so it comes from the cache.
  expect((await visit('/servers/beta', '192.0.2.8')).statusCode).toBe(200);

  await web.deps.rateLimits.updateOne({ _id: `pages:user:${owner.userId.toHexString()}` }, used, {
    upsert: true,
  });
  expect((await visit('/servers/beta', '192.0.2.10', owner.headers)).statusCode).toBe(429);
});

test('searches have their own limit: neither allowed nor refused ones count as pages, so votes stay open', async () => {
  const web = await openWebApp();
  const owner = await signIn(web);
  await addOwnedServer(web.deps, owner.userId, { name: 'Alpha' });
  const status = async (path: string) => (await getPage(web, path)).statusCode;
  const pages = async () =>
    (await web.deps.rateLimits.findOne({ _id: `pages:address:${networkOf('127.0.0.1')}` }))?.count ?? 0;
  expect(await status('/?q=beta')).toBe(200);
  expect(await pages()).toBe(0);
  const used = { $set: { count: 60, resetAt: after(web.deps.clock.now(), MINUTE) } };
  await web.deps.rateLimits.updateOne({ _id: `search:address:${networkOf('127.0.0.1')}` }, used);
  for (let n = 0; n < 5; n += 1) {
    expect(await status(`/?q=beta+${n}`)).toBe(429);
    expect(await status(`/how-ranking-works?server=beta+${n}`)).toBe(429);
  }
  expect(await pages()).toBe(0);
  expect(await status('/servers/alpha/vote')).toBe(200);
  expect(await pages()).toBe(1);
  // The other way round: used-up pages leave searches open.
  await web.deps.rateLimits.updateMany({}, { $set: { count: 0 } });
  await web.deps.rateLimits.updateOne(
    { _id: `pages:address:${networkOf('127.0.0.1')}` },
    { $set: { count: PAGES_A_MINUTE } },
  );
  for (let n = 0; n < 3; n += 1) expect(await status(`/servers/alpha/vote?n=${n}`)).toBe(429);
  expect(await status('/?q=gamma')).toBe(200);
});

test('a process makes 600 images of servers a minute for a network, and four times as many for an IPv6 /48', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps({ TRUST_PROXY: '1' })), clock, passwords: CHEAP_PASSWORDS };
  const web = await openWebAppOn(deps);
  const owner = await signIn(web);
  for (const name of ['Alpha', 'Beta']) await addOwnedServer(deps, owner.userId, { name });
  const visit = async (path: string, address: string) =>
    (await getPage(web, path, { 'x-forwarded-for': address })).statusCode;
  const files = ['card.png', 'banner.svg', 'banner.png', 'badge.svg', 'widget'];

  expect(web.app.images('192.0.2.7', 599)).toBe(null);
  expect(await visit('/servers/alpha/card.png', '192.0.2.7')).toBe(200);
  for (const file of files)
    expect([file, await visit(`/servers/beta/${file}`, '192.0.2.7')]).toEqual([file, 429]);
  for (const file of files)
    expect([file, await visit(`/servers/beta/${file}`, '192.0.2.8')]).toEqual([file, 200]);
  // Made for another visitor just now.
  expect(await visit('/servers/beta/badge.svg', '192.0.2.7')).toBe(200);

  for (let n = 0; n < 4; n += 1) expect(web.app.images('2001:db8:1::/48', 149.75)).toBe(null);
  expect(await visit('/servers/alpha/banner.svg', '2001:db8:1:1::5')).toBe(200);
  for (let n = 0; n < 3; n += 1) expect(web.app.images('2001:db8:1::/48', 0.25)).toBe(null);
  expect(await visit('/servers/alpha/badge.svg', '2001:db8:1:2::5')).toBe(429);

  clock.move(MINUTE);
  expect(await visit('/servers/alpha/widget', '192.0.2.7')).toBe(200);
});

test('a user causes 600 pages of their own a minute; other users and their own public pages are not refused', async () => {
  const clock = stoppedClock();
  const web = await openWebAppOn({ ...(await testDeps()), clock, passwords: CHEAP_PASSWORDS });
  const { headers, userId } = await signIn(web);
  const other = await signIn(web);
  const visit = async (path: string, own: Record<string, string> = headers) =>
    (await getPage(web, path, own)).statusCode;
  expect(await visit('/account')).toBe(200);
  expect(web.app.ownPages(userId.toHexString(), 598)).toBe(null);
  expect(await visit('/dashboard')).toBe(200);
  for (const path of ['/account', '/dashboard', '/favourites']) expect(await visit(path)).toBe(429);
  expect([await visit('/account', other.headers), await visit('/'), await visit('/sign-in', {})]).toEqual([
    200, 200, 200,
  ]);
  clock.move(MINUTE);
  expect(await visit('/account')).toBe(200);
});

test('a process takes 300 refused forms a minute from the visitors of a network, whatever they accept', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const owner = await signIn(web);
  await addOwnedServer(web.deps, owner.userId, { name: 'Alpha' });
  const post = async (path: string, payload: string, address: string, accept = 'text/html') => {
    const origin = web.deps.config.PUBLIC_URL;
    const type = 'application/x-www-form-urlencoded';
    const headers = { origin, accept, 'content-type': type, 'x-forwarded-for': address };
    return (await web.app.inject({ method: 'POST', url: path, payload, headers })).statusCode;
  };
  const withoutProof = (address: string, accept?: string) =>
    post('/servers/alpha/vote', 'username=Steve', address, accept);
  for (let n = 0; n < 298; n += 1) web.app.refusedForms(networkOf('192.0.2.7'));
  expect(await withoutProof('192.0.2.7')).toBe(400);
  expect(await withoutProof('192.0.2.7', 'application/json')).toBe(400);
  await expect.poll(() => web.app.refusedForms.usedUpUntil(networkOf('192.0.2.7'))).not.toBeNull();
  expect(await post('/sign-in', 'email=nobody', '192.0.2.7')).toBe(429);
  expect(await post('/sign-in', 'email=nobody', '192.0.2.7', 'application/json')).toBe(429);
  // Nobody closes the vote form for their neighbours: it has limits of its own.
  expect(await withoutProof('192.0.2.7')).toBe(400);
  expect(await post('/sign-in', 'email=nobody', '192.0.2.8')).toBe(400);
});
