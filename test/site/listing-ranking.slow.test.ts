import { gunzipSync } from 'node:zlib';
import type { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { listServers } from '../support/servers.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, textOf, type WebApp } from '../support/web-app.ts';

const servers = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `Alpha ${i}`,
    game: i % 2 ? 'rust' : 'minecraft',
    countryCode: 'DE',
    online: i,
    votes: 1_000 - i,
  }));

async function listing(count: number, env: Record<string, string> = {}): Promise<WebApp> {
  const web = await openWebApp(env);
  await listServers(web.deps, servers(count));
  return web;
}

/** Listings of many tests that change nothing in them. */
let ofTwo: WebApp;
let withTheBest: WebApp;

beforeAll(async () => {
  ofTwo = await listing(2);
  withTheBest = await openWebApp();
  const best = { online: 9, uptime: 99.5, reviews: { count: 3, ratingSum: 14 } };
  const others = Array.from({ length: 21 }, (_, i) => ({ name: `Alpha ${i}`, game: 'rust', votes: 30 - i }));
  await listServers(withTheBest.deps, [...others, { name: 'Best', game: 'rust', ...best }]);
});

/** The names of the servers on a page, in order. */
const namesIn = (body: string) =>
  [...body.matchAll(/href="[^"]*\/servers\/[^"]+"><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name);

test('the ranking is the home page and shows the figures of each rank', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [
    { name: 'Second', votes: 3, isPremium: true },
    {
      name: '<b>First</b>',
      game: 'minecraft',
      countryCode: 'DE',
      votes: 1_234,
      online: 42,
      max: 200,
      version: 'Paper 1.21.4',
      players: [10, 20, null, 30.4, 5, 5, 5],
    },
  ]);
  for (const headers of [{}, (await signIn(web)).headers]) {
    const { statusCode, body } = await getPage(web, '/', headers as Record<string, string>);
    expect(statusCode).toBe(200);
    expect(namesIn(body)).toEqual(['&lt;b&gt;First&lt;/b&gt;', 'Second']);
    for (const shown of ['1,234', 'Minecraft', 'Germany', 'Paper 1.21.4', '<b>42</b> of 200']) {
      expect(body).toContain(shown);
    }
    expect(body).toContain('Players on average, day by day: 10, 20, unknown, 30, 5, 5, 5');
    // The server with rank 2 has the premium label, which does not change its rank.
    expect(body.indexOf('Premium')).toBeGreaterThan(body.indexOf('>Second<'));
  }
});

test('a country has a flag of this site beside its name, and a code without a flag has none', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [
    { name: 'One', countryCode: 'DE' },
    { name: 'Two', countryCode: 'QQ' },
  ]);
  const { body } = await getPage(web, '/');
  const [, path = ''] = /<img src="(\/assets\/flags-[^"]+\/DE\.svg)" alt=""[^>]*>Germany</.exec(body) ?? [];
  const file = await getPage(web, path);
  expect(file.headers['content-type']).toBe('image/svg+xml');
  expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(file.body).toMatch(/^<svg /);
  expect(body).not.toContain('QQ.svg');
  for (const code of ['QQ', 'de', 'BQ-BO', '..%2Fpackage', '%00']) {
    expect((await getPage(web, path.replace('DE', code))).statusCode, code).toBe(404);
  }
});

test('pages have stable canonical addresses and links to their neighbours', async () => {
  const web = await listing(45);
  const site = 'http://localhost:3000';
  const first = await getPage(web, '/?utm_source=somewhere&page=1');
  expect(namesIn(first.body)).toHaveLength(20);
  expect(first.body).toContain(`<link rel="canonical" href="${site}/" />`);
  expect(first.headers.link).toBe(`<${site}/>; rel="canonical", <${site}/?page=2>; rel="next"`);
  const second = await getPage(web, '/?page=2');
  expect(namesIn(second.body)[0]).toBe('Alpha 20');
  expect(second.headers.link).toBe(
    `<${site}/?page=2>; rel="canonical", <${site}/>; rel="prev", <${site}/?page=3>; rel="next"`,
  );
  expect(namesIn((await getPage(web, '/?page=3')).body)).toHaveLength(5);
  const beyond = await getPage(web, '/?page=4');
  expect(beyond.statusCode).toBe(404);
  expect(beyond.body).toContain('This page of the ranking does not exist.');
  expect(beyond.headers['cache-control']).toBe('no-store');
});

test('filters have a fixed order in the address, and each can be removed', async () => {
  const web = await listing(30);
  const { body, headers } = await getPage(web, '/games/rust?online=yes&country=de');
  expect(namesIn(body)).toHaveLength(15);
  expect(body).toContain('<h1>Online Rust servers in Germany</h1>');
  expect(headers.link).toBe('<http://localhost:3000/games/rust?country=DE&online=yes>; rel="canonical"');
  for (const dropped of ['/?country=DE&amp;online=yes', '/games/rust?online=yes', '/games/rust?country=DE']) {
    expect(body).toContain(`href="${dropped}"`);
  }
  // Search engines may index lists with one filter, not with several.
  expect(body).toContain('<meta name="robots" content="noindex" />');
  expect((await getPage(web, '/games/rust')).body).toContain('<link rel="canonical"');
  const nothing = await getPage(web, '/games/rust?version=1.99');
  expect(nothing.statusCode).toBe(200);
  expect(nothing.body).toContain('No server matches all of these filters.');
});

test.each([
  ['players', 'Players', '<b>9</b>'],
  ['newest', 'Newest', '<p class="votes">Listed <b><time'],
  ['rating', 'Rating', '<b>4.67</b> of 5 (3 reviews)'],
  ['uptime', 'Uptime', '<b>99.5 %</b> online'],
])('the list by %s shows the figure that it is sorted by and keeps the order', async (sort, name, figure) => {
  const { body, headers } = await getPage(withTheBest, `/games/rust?sort=${sort}`);
  expect(namesIn(body)[0]).toBe('Best');
  expect(body).toContain(figure);
  // Only the first page by rank begins with a podium.
  expect(body).not.toContain('podium');
  expect(body).toMatch(new RegExp(`aria-current="true">${name}<`));
  expect(body).toContain(`name="sort" value="${sort}"`);
  expect(body).toContain(`sort=${sort}&amp;page=2" rel="next"`);
  expect(headers.link).toContain(`sort=${sort}>; rel="canonical"`);
  expect(body).toContain('<meta name="robots" content="noindex" />');
});

test('the ranking shows the votes that it ranks by, and an unknown order is the ranking', async () => {
  const web = await listing(3);
  const { body } = await getPage(web, '/?sort=$where');
  expect(body).toContain('<b>1,000</b> votes');
  expect(body).toContain('<ol class="servers podium" ');
  expect(namesIn(body)).toEqual(['Alpha 0', 'Alpha 1', 'Alpha 2']);
});

test('each game has a page with its own title, description and address; earlier addresses lead there', async () => {
  const web = await listing(30);
  const { body, headers } = await getPage(web, '/games/rust');
  expect(namesIn(body)).toHaveLength(15);
  expect(body).toContain('<title>Rust servers · Tallyport</title>');
  expect(body).toContain(
    'content="15 Rust servers on Tallyport, ranked by votes in 30 days, with players and status: Alpha 1, Alpha 3, Alpha 5 and more."',
  );
  expect(body).toContain('<link rel="canonical" href="http://localhost:3000/games/rust" />');
  expect(headers['cache-control']).toContain('public');
  // The home page has links to the games.
  expect((await getPage(web, '/')).body).toMatch(/href="\/games\/rust">.*<b>Rust<\/b><span>15</);
  const known = [
    ['/?game=rust', '/games/rust'],
    ['/?game=RUST&page=1&utm_source=x', '/games/rust'],
    ['/?game=rust&sort=newest&online=yes', '/games/rust?online=yes&sort=newest'],
    ['/games/Rust', '/games/rust'],
    ['/games/rust/', '/games/rust'],
    ['/games/rust?q=alpha', '/?q=alpha&game=rust'],
    ['/games/', '/games'],
  ] as const;
  for (const [from, to] of known) {
    const { statusCode, headers } = await getPage(web, from);
    expect([from, statusCode, headers.location]).toEqual([from, 301, to]);
  }
  // The page of a game without servers tells search engines not to index it.
  const none = await getPage(web, '/games/valheim');
  expect(none.statusCode).toBe(200);
  expect(none.body).toContain('noindex');
  for (const path of ['/games/constructor', '/games/nothing', '/games/a-b', '/games/%00', '/games/..%2F']) {
    expect((await getPage(web, path)).statusCode, path).toBe(404);
  }
  expect((await getPage(web, '/?q=alpha&game=constructor')).statusCode).toBe(200);
});

test('each tag has a page with its own title and address; with a game it lists the servers with both', async () => {
  const web = await listing(30);
  await web.deps.servers.updateMany(
    { name: { $in: ['Alpha 1', 'Alpha 2'] } },
    { $set: { profile: { tags: ['survival', 'pvp'], shortText: 'Whales' } } },
  );
  await recomputeRanks(web.deps);
  const { body } = await getPage(web, '/tags/survival');
  expect(namesIn(body).toSorted()).toEqual(['Alpha 1', 'Alpha 2']);
  expect(body).toContain('<title>Survival servers · Tallyport</title>');
  expect(body).toContain('content="2 Survival servers on Tallyport, ranked by votes in 30 days');
  expect(body).toContain('<link rel="canonical" href="http://localhost:3000/tags/survival" />');
  expect(body).toContain('<a href="/tags/pvp" title="PvP">PvP</a>');
  expect(namesIn((await getPage(web, '/tags/survival?game=rust&sort=newest')).body)).toEqual(['Alpha 1']);
  expect(namesIn((await getPage(web, '/?q=whales&tag=pvp')).body)).toHaveLength(2);
  expect((await getPage(web, '/')).body).toContain('<a href="/tags/survival">Survival ');
  for (const [from, to] of [
    ['/?tag=survival', '/tags/survival'],
    ['/tags/Survival?country=DE', '/tags/survival'],
    ['/tags/survival/', '/tags/survival'],
    ['/tags/', '/tags'],
  ] as const) {
    const { statusCode, headers } = await getPage(web, from);
    expect([from, statusCode, headers.location]).toEqual([from, 301, to]);
  }
  expect((await getPage(web, '/tags/vanilla')).body).toContain('noindex');
  for (const path of ['/tags/nothing', '/tags/constructor', '/tags/%00', '/?q=a&tag=nothing'])
    expect((await getPage(web, path)).statusCode, path).toBe(404);
});

test('versions are those of the chosen game, and another game drops the chosen version', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [
    { name: 'One', game: 'minecraft', version: '1.21.4' },
    { name: 'Two', game: 'rust', version: '2.5' },
  ]);
  const disabled = (body: string) =>
    [...body.matchAll(/<select name="(\w+)"[^>]* disabled>\s*<option[^>]*>([^<]*)/g)].map(
      ([, ...found]) => found,
    );
  // Filters that do not go with a tag are disabled and stay in their places. Without a game there is no version.
  expect((await getPage(web, '/')).body).not.toContain('name="version"');
  expect(disabled((await getPage(web, '/games/minecraft')).body)).toEqual([]);
  expect(disabled((await getPage(web, '/?q=a&tag=survival&game=minecraft')).body)).toEqual([
    ['version', 'Not with a tag'],
    ['country', 'Not with a tag'],
  ]);
  const { body } = await getPage(web, '/games/minecraft');
  expect(body).toContain('<option value="minecraft:1.21"');
  expect(body).not.toContain('2.5');
  const sent = '/?q=&country=&version=minecraft%3A1.21&game=';
  expect((await getPage(web, `${sent}minecraft`)).headers.location).toBe('/games/minecraft?version=1.21');
  expect((await getPage(web, `${sent}rust`)).headers.location).toBe('/games/rust');
  expect(namesIn((await getPage(web, '/?version=1.21')).body)).toEqual(['One']);
});

test('the random server is one of the list, online if any is, and no answer of it is cached', async () => {
  const web = await openWebApp();
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
  for (let i = 0; i < 60; i += 1) await getPage(web, '/servers/random');
  expect((await getPage(web, '/servers/random')).statusCode).toBe(429);
});

test('a server that was listed as “random” before the random server keeps its address', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [{ name: 'Random' }]);
  expect((await getPage(web, '/servers/random')).headers.location).toBe('/servers/server-random');
  await web.deps.servers.updateOne({}, { $set: { slug: 'random', slugs: ['random'] } });
  const { statusCode, body } = await getPage(web, '/servers/random');
  expect(statusCode).toBe(200);
  expect(body).toContain('<h1><bdi>Random</bdi></h1>');
});

test('a form with empty fields redirects to the short address', async () => {
  const web = await listing(1, { PUBLIC_URL: 'http://localhost:3000/listing' });
  const { statusCode, headers } = await getPage(web, '/?q=&game=rust&country=&version=');
  expect([statusCode, headers.location]).toEqual([303, '/listing/games/rust']);
  expect((await getPage(web, '/games/rust')).statusCode).toBe(200);
});

test.each([
  '/?page=0',
  '/?page=-1',
  '/?page=1e9',
  '/?page=99999999999999999999',
  '/?game=$gt',
  '/?game[$gt]=a',
  '/?country=DEU',
  '/?version=%00',
  '/?online=no',
  '/?game=a&game=../../x',
  '/?version=%ED%A0%80',
])('what cannot be meant is not asked for: %s', async (path) => {
  expect(namesIn((await getPage(ofTwo, path)).body)).toHaveLength(2);
});

test('a search allows a typo, explains its results, and is not indexed by search engines', async () => {
  const web = await openWebApp();
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
  const web = await openWebApp();
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
  const web = await listing(2);
  const search = (i: number) => getPage(web, `/?q=alpha+${i}`);
  for (let i = 0; i < 60; i += 1) expect((await search(i)).statusCode).toBe(200);
  const one = await getPage(web, '/?q=alpha+1000');
  expect(one.statusCode).toBe(429);
  expect(Number(one.headers['retry-after'])).toBeGreaterThan(0);
  expect(one.body).toContain('Too many searches from your network address.');
  expect((await getPage(web, '/how-ranking-works?server=alfa')).statusCode).toBe(429);
  for (const path of ['/', '/games/rust', '/how-ranking-works?server=alpha-1']) {
    expect((await getPage(web, path)).statusCode, path).toBe(200);
  }
});

test('the home page has the figures of the whole listing; other lists have a slim head', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [
    { name: 'One', game: 'rust', online: 40, votes: 1_200 },
    { name: 'Two', game: 'rust', online: 2, votes: 34 },
    { name: 'Three', game: 'minecraft' },
  ]);
  const { body } = await getPage(web, '/');
  for (const figure of ['<b>3</b> servers', '<b>42</b> playing now', '<b>1,234</b> votes in 30 days'])
    expect(body).toContain(figure);
  for (const path of ['/?sort=players', '/?q=one', '/games/rust', '/?country=DE'])
    expect((await getPage(web, path)).body, path).not.toContain('class="hero"');
});

test('a server without an answer says so, and one that is online does not', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [{ name: 'On', online: 1 }, { name: 'Off' }]);
  const { body } = await getPage(web, '/');
  expect(body.match(/class="state \w+"/g)).toEqual(['class="state off"']);
  expect(body).toMatch(/>Offline /);
});

test('the pages of all games and tags list those with servers, and lead to related lists', async () => {
  const web = await openWebApp();
  await listServers(web.deps, [
    { name: 'Old', game: 'rust', countryCode: 'DE' },
    { name: 'Fresh', game: 'rust', countryCode: 'NO' },
  ]);
  await web.deps.servers.updateOne({ name: 'Old' }, { $set: { profile: { tags: ['pvp'] } } });
  await web.deps.servers.updateOne({ name: 'Fresh' }, { $set: { listedAt: web.deps.clock.now() } });
  await recomputeRanks(web.deps);
  const games = await getPage(web, '/games');
  expect(games.body.match(/href="\/games\/\w+"/g)).toEqual(['href="/games/rust"']);
  const tags = await getPage(web, '/tags');
  expect(tags.body.match(/href="\/tags\/[\w-]+"/g)).toEqual(['href="/tags/pvp"']);
  const { body } = await getPage(web, '/games/rust');
  expect(body).toContain('href="/tags/pvp?game=rust"');
  expect(body).toContain('href="/games/rust?country=NO"');
  const [, latest = ''] = body.split('New this month');
  expect(namesIn(latest)).toEqual(['Fresh']);
  expect((await getPage(web, '/tags/pvp')).body).toContain('href="/tags/pvp?game=rust"');
});

test('each server shows three tags, and its address to copy', async () => {
  const web = await listing(1);
  const tags = ['adventure', 'anarchy', 'building', 'casual', 'co-op'];
  await web.deps.servers.updateOne({}, { $set: { profile: { tags }, address: '2001:db8::1', port: 25_570 } });
  const { body } = await getPage(web, '/?sort=players');
  expect(body.match(/<li><a href="\/tags\/[\w-]+" title/g)).toHaveLength(3);
  expect(body).toContain('data-copy="[2001:db8::1]:25570"');
});

test('an empty listing offers to add a server', async () => {
  const web = await openWebApp();
  const { statusCode, body } = await getPage(web, '/');
  expect(statusCode).toBe(200);
  expect(body).toContain('No servers are listed yet.');
  expect(body).toContain('href="/dashboard/servers/new"');
});

test('visitors share a cached page; signed-in users get their own', async () => {
  const web = await listing(3);
  const before = await getPage(web, '/');
  expect(before.headers['cache-control']).toMatch(/^public, max-age=\d+, stale-while-revalidate=\d+$/);
  expect(before.headers.vary).toContain('cookie');
  await web.deps.servers.updateMany({}, { $set: { isPremium: true } });
  const again = await getPage(web, '/', { 'if-none-match': String(before.headers.etag) });
  expect(again.statusCode).toBe(304);
  const { headers } = await signIn(web);
  const own = await getPage(web, '/', headers);
  expect(own.headers['cache-control']).toBe('no-store');
  expect(own.body).toContain('Premium');
  // The signed-in user's page was not cached for others.
  expect((await getPage(web, '/')).body).not.toContain('Sign out');
});

test('a page of twenty servers is compressed to a few kilobytes', async () => {
  const web = await listing(20);
  const answer = await getPage(web, '/', { 'accept-encoding': 'gzip' });
  expect(answer.headers['content-encoding']).toBe('gzip');
  expect(namesIn(String(gunzipSync(answer.rawPayload)))).toHaveLength(20);
  expect(answer.rawPayload.length).toBeLessThan(6_500);
});

test('the page shows the formula, and the figures of any server with its neighbours', async () => {
  const web = await openWebApp();
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

test('the site map has every listed server by its game, and no private page', async () => {
  const web = await openWebApp({ PUBLIC_URL: 'https://example.org/listing' });
  const others = [
    { name: 'No game', game: null },
    { name: 'Hidden', hiddenAt: new Date() },
  ];
  await listServers(web.deps, [...servers(230), ...others]);
  const robots = await getPage(web, '/robots.txt');
  expect(robots.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(robots.body).toContain('Disallow: /listing/dashboard\n');
  expect(robots.body).toContain('Sitemap: https://example.org/listing/sitemap.xml\n');
  const index = await getPage(web, '/sitemap.xml');
  expect(index.headers['content-type']).toBe('application/xml; charset=utf-8');
  const addresses = (body: string) => Array.from(body.matchAll(/<loc>(.*?)<\/loc>/g), ([, url]) => url ?? '');
  const files = addresses(index.body).map((url) => url.replace('https://example.org/listing', ''));
  expect(files).toEqual([
    '/sitemaps/pages.xml',
    '/sitemaps/minecraft-1.xml',
    '/sitemaps/rust-1.xml',
    '/sitemaps/without-game-1.xml',
  ]);
  const bodies = await Promise.all(files.map(async (file) => (await getPage(web, file)).body));
  const urls = bodies.flatMap(addresses);
  // 231 servers, two games, and four other pages.
  expect(urls).toHaveLength(237);
  expect(new Set(urls).size).toBe(urls.length);
  expect(addresses((await getPage(web, '/sitemaps/without-game-1.xml')).body)).toEqual([
    'https://example.org/listing/servers/no-game',
  ]);
  expect(urls).toContain('https://example.org/listing/games/rust');
  expect(urls).toContain('https://example.org/listing/');
  expect(urls).toContain('https://example.org/listing/servers/alpha-229');
  expect(urls).not.toContain('https://example.org/listing/servers/hidden');
  for (const file of ['rust-2.xml', 'rust-0.xml', 'x.xml', 'nogame-1.xml', '--1.xml', 'rust-99999.xml']) {
    expect((await getPage(web, `/sitemaps/${file}`)).statusCode, file).toBe(404);
  }
});
