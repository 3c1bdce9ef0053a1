import type { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { listServers } from '../support/servers.ts';
import { getPage, textOf, webAppOfFile } from '../support/web-app.ts';
import { namesIn, servers } from './listing.ts';

const shared = webAppOfFile();

test('the random server is one of the list, online if any is, and no answer of it is cached', async () => {
  const web = shared();
  await listServers(web.deps, [
    { name: 'On', game: 'rust', online: 0 },
    { name: 'Off', game: 'rust' },
    { name: 'Only', game: 'minecraft' },
    { name: 'Hidden', game: 'valheim', hiddenAt: new Date() },
  ]);
  const draw = async (query = '') => {
    const { statusCode, headers } = await getPage(web, `/servers/random${query}`);
    expect([statusCode, headers['cache-control']]).toEqual([303, 'no-store']);
    return headers.location;
  };
  expect((await getPage(web, '/games/rust')).body).toContain('href="/servers/random?game=rust"');
  for (let i = 0; i < 5; i += 1) expect(await draw()).toBe('/servers/on');
  expect(await draw('?game=minecraft')).toBe('/servers/only');
  expect(await draw('?game=valheim')).toBe('/games/valheim');
  await web.deps.servers.updateOne({ name: 'On' }, { $set: { hiddenAt: new Date() } });
  // This server was hidden after the ranking.
  expect(await draw('?game=rust')).toBe('/servers/off');
  const used = { $set: { count: 59 } };
  await web.deps.rateLimits.updateMany({ _id: /^random:/ }, used);
  await draw();
  expect((await getPage(web, '/servers/random')).statusCode).toBe(429);
});

test('a server that was listed as “random” before the random server keeps its address', async () => {
  const web = shared();
  await listServers(web.deps, [{ name: 'Random' }]);
  expect((await getPage(web, '/servers/random')).headers.location).toBe('/servers/server-random');
  await web.deps.servers.updateOne({}, { $set: { slug: 'random', slugs: ['random'] } });
  const { statusCode, body } = await getPage(web, '/servers/random');
  expect(statusCode).toBe(200);
  expect(body).toContain('<h1><bdi>Random</bdi></h1>');
});

test('a search allows a typo, explains its results, and is not indexed by search engines', async () => {
  const web = shared();
  await listServers(web.deps, [{ name: 'Mystic Realms', game: 'rust' }, { name: 'Other' }]);
  const { body } = await getPage(web, '/?q=Mistic+Relms');
  expect(namesIn(body)).toEqual(['Mystic Realms']);
  expect(body).toContain('<meta name="robots" content="noindex" />');
  const none = await getPage(web, `/?q=${encodeURIComponent('<script>x')}&game=rust`);
  expect(none.body).toContain('“<bdi>&lt;script&gt;x</bdi>” and matches the filters.');
  expect(none.body).toContain('Search all servers');
  expect((await getPage(web, `/?q=${'x'.repeat(10_000)}`)).statusCode).toBe(200);
});

test('a search for an address nobody has says so; the heading names the search', async () => {
  const web = shared();
  await listServers(web.deps, [
    { name: 'One', address: '127.0.0.1' },
    { name: 'Two', address: '127.0.0.2' },
    { name: 'Lagoon' },
    { name: 'Lagoons' },
  ]);
  const search = async (q: string) =>
    textOf((await getPage(web, `/?q=${encodeURIComponent(q)}`)).body)
      .replaceAll('“ ', '“')
      .replaceAll(' ”', '”');
  const nobody = await search('127.0.1.1:25565');
  expect(nobody).toContain('Search: “127.0.1.1:25565”');
  expect(nobody).toContain('No server has the address “127.0.1.1:25565”.');
  expect(nobody).toContain('Check the address, or search for the server’s name.');
  expect(await search('127.0.0.1')).toContain('1 server with the address “127.0.0.1”.');
  expect(await search('127.0.0.1:25565')).toContain('1 server with the address “127.0.0.1:25565”.');
  expect(await search('127.0.0.1:1')).toContain(
    'No server has the address “127.0.0.1:1”. With another port at this host: 1 server.',
  );
  expect(await search('lagoons')).toContain('2 servers with a name, text or address like “lagoons”, best');
  await web.deps.servers.updateOne({ name: 'Lagoons' }, { $set: { hiddenAt: new Date() } });
  expect(await search('lagoon')).toContain('1 server with a name, text or address like “lagoon”.');
});

test('a network address can search sixty times a minute, and sees when it can search again', async () => {
  const web = shared();
  await listServers(web.deps, servers(2));
  expect((await getPage(web, '/?q=alpha+1')).statusCode).toBe(200);
  await web.deps.rateLimits.updateMany({ _id: /^search:/ }, { $set: { count: 59 } });
  expect((await getPage(web, '/?q=alpha+2')).statusCode).toBe(200);
  const one = await getPage(web, '/?q=alpha+1000');
  expect(one.statusCode).toBe(429);
  expect(Number(one.headers['retry-after'])).toBeGreaterThan(0);
  expect(one.body).toContain('Too many searches from your network address.');
  expect((await getPage(web, '/how-ranking-works?server=alfa')).statusCode).toBe(429);
  for (const path of ['/', '/games/rust', '/how-ranking-works?server=alpha-1']) {
    expect((await getPage(web, path)).statusCode, path).toBe(200);
  }
});

test('the page shows the formula, and the figures of any server with its neighbours', async () => {
  const web = shared();
  const ids = (await listServers(web.deps, [
    { name: 'Alpha', votes: 9 },
    { name: 'Beta', votes: 5 },
    { name: 'Gamma', votes: 5 },
    { name: 'Hidden', hiddenAt: new Date() },
  ])) as [ObjectId, ObjectId, ObjectId, ObjectId];
  const page = await getPage(web, '/how-ranking-works');
  expect(page.body).toContain('Votes of today and the 29 days before count');
  expect(page.body).toContain('Premium');
  const { body } = await getPage(web, '/how-ranking-works?server=beta');
  expect(body).toContain('<strong><bdi>Beta</bdi></strong> has rank <strong>2</strong> of 3.');
  expect(namesIn(body)).toEqual(['Alpha', 'Beta', 'Gamma']);
  expect(body).toContain('above by votes');
  expect(body).toContain('below by age of the listing (equal votes and uptime)');
  const today = web.deps.clock.now().toISOString().slice(8, 10);
  await web.deps.voteCounters.updateOne({ serverId: ids[1] }, { $inc: { [`days.${today}`]: 2 } });
  const later = await getPage(web, `/how-ranking-works?server=${ids[1]}`);
  expect(later.body).toMatch(/It had 5 votes at .* It has 7 now; the next ranking counts them\./s);
  // A misspelt name shows servers with similar names.
  expect((await getPage(web, '/how-ranking-works?server=Gama')).body).toContain('?server=gamma#check');
  for (const unknown of ['hidden', 'zzzz', '%00', '%ED%A0%80x']) {
    const answer = await getPage(web, `/how-ranking-works?server=${unknown}`);
    expect(answer.statusCode, unknown).toBe(200);
    expect(answer.body, unknown).not.toContain('has rank');
  }
});

describe('under a base path', () => {
  const underPath = webAppOfFile({ PUBLIC_URL: 'https://example.org/listing' });

  test('the site map has every listed server by its game, and no private page', async () => {
    const others = [
      { name: 'No game', game: null },
      { name: 'Hidden', hiddenAt: new Date() },
    ];
    const web = underPath();
    await listServers(web.deps, [...servers(10), ...others]);
    const robots = await getPage(web, '/robots.txt');
    expect(robots.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(robots.body).toContain('Disallow: /listing/dashboard\n');
    expect(robots.body).toContain('Sitemap: https://example.org/listing/sitemap.xml\n');
    const index = await getPage(web, '/sitemap.xml');
    expect(index.headers['content-type']).toBe('application/xml; charset=utf-8');
    const addresses = (body: string) =>
      Array.from(body.matchAll(/<loc>(.*?)<\/loc>/g), ([, url]) => url ?? '');
    const files = addresses(index.body).map((url) => url.replace('https://example.org/listing', ''));
    expect(files).toEqual([
      '/sitemaps/pages.xml',
      '/sitemaps/minecraft-1.xml',
      '/sitemaps/rust-1.xml',
      '/sitemaps/without-game-1.xml',
    ]);
    const bodies = await Promise.all(files.map(async (file) => (await getPage(web, file)).body));
    const urls = bodies.flatMap(addresses);
    // 11 servers, two games, and four other pages.
    expect(urls).toHaveLength(17);
    expect(new Set(urls).size).toBe(urls.length);
    expect(addresses((await getPage(web, '/sitemaps/without-game-1.xml')).body)).toEqual([
      'https://example.org/listing/servers/no-game',
    ]);
    expect(urls).toContain('https://example.org/listing/games/rust');
    expect(urls).toContain('https://example.org/listing/');
    expect(urls).toContain('https://example.org/listing/servers/alpha-9');
    expect(urls).not.toContain('https://example.org/listing/servers/hidden');
    for (const file of ['rust-2.xml', 'rust-0.xml', 'x.xml', 'nogame-1.xml', '--1.xml', 'rust-99999.xml']) {
      expect((await getPage(web, `/sitemaps/${file}`)).statusCode, file).toBe(404);
    }
  });

  test('a form with empty fields redirects to the short address', async () => {
    const web = underPath();
    await listServers(web.deps, servers(1));
    const { statusCode, headers } = await getPage(web, '/?q=&game=rust&country=&version=');
    expect([statusCode, headers.location]).toEqual([303, '/listing/games/rust']);
    expect((await getPage(web, '/games/rust')).statusCode).toBe(200);
  });
});
