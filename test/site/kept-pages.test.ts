import { beforeAll, expect, it } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { listServers } from '../support/servers.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

it('a redirect from an earlier slug is not cached if it carries a session or is private', async () => {
  const owner = await signIn(web);
  const id = await addOwnedServer(web.deps, owner.userId, { name: 'Earlier' });
  await editServer(web.deps, id, { name: 'Later' }, 'test');
  for (const rest of ['', '/badge.svg']) {
    const soon = new Date(Date.now() + HOUR);
    await web.deps.sessions.updateOne({ userId: owner.userId }, { $set: { expiresAt: soon } });
    const renewed = await getPage(web, `/servers/earlier${rest}`, owner.headers);
    expect([renewed.statusCode, renewed.cookies.length]).toEqual([301, 1]);
    expect(renewed.headers['cache-control'], rest).toBe('no-store');
  }
  await hideServer(web.deps, id, { reason: 'A copy.' }, 'test');
  const hidden = await getPage(web, '/servers/earlier', owner.headers);
  expect([hidden.statusCode, hidden.headers['cache-control']]).toEqual([301, 'no-store']);
});

it('an encoded address does not get the cached page of the decoded address', async () => {
  await listServers(web.deps, [{ name: 'Harbour' }]);
  const { slug = '' } = (await web.deps.servers.findOne({ name: 'Harbour' })) ?? {};
  const [badge, ranged] = [`/servers/${slug}/badge.svg`, `/servers/${slug}?players=30d`];
  const disguised = [`/servers/${slug}%2Fbadge.svg`, `/servers/${slug}%3Fplayers=30d`];
  for (const path of [badge, ranged]) expect((await getPage(web, path)).statusCode).toBe(200);
  for (const path of disguised) expect((await getPage(web, path)).statusCode, path).toBe(404);
});

it('an encoded address does not replace the cached page of the decoded address', async () => {
  await listServers(web.deps, [{ name: 'Lighthouse' }]);
  const { slug = '' } = (await web.deps.servers.findOne({ name: 'Lighthouse' })) ?? {};
  const [, wanted] = await Promise.all([
    getPage(web, `/servers/${slug}%2Fbadge.svg`),
    getPage(web, `/servers/${slug}/badge.svg`),
  ]);
  expect(wanted.statusCode).toBe(200);
});

it('a rate-limited client does not block the same search of others', async () => {
  const search = (remoteAddress: string, q: string) =>
    web.app.inject({ url: `/?q=${q}`, headers: { accept: 'text/html' }, remoteAddress });
  await search('192.0.2.1', 'lantern');
  await web.deps.rateLimits.updateMany({ _id: /^search:/ }, { $set: { count: 60 } });
  const [refused, ...answered] = await Promise.all(
    [1, 2, 3].map((host) => search(`192.0.2.${host}`, 'harbour')),
  );
  expect(refused?.statusCode).toBe(429);
  expect(answered.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
});

it('several addresses of one network share one search limit', async () => {
  // Each search has a new word, because a cached answer does not count against the limit.
  const search = (host: number) =>
    web.app.inject({ url: `/?q=lantern+${host}`, remoteAddress: `2001:db8:1:2::${host}` });
  expect((await search(1)).statusCode).toBe(200);
  await web.deps.rateLimits.updateMany({ _id: /^search:.*2001:db8:1:2::/ }, { $set: { count: 59 } });
  expect([(await search(2)).statusCode, (await search(3)).statusCode]).toEqual([200, 429]);
});

it('a missing image gets an error page in the site’s design', async () => {
  const { statusCode, headers } = await getPage(web, '/servers/nobody/banner.svg');
  expect(statusCode).toBe(404);
  expect(headers['content-security-policy']).toContain("style-src 'self'");
});
