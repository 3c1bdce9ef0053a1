import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { listServers } from '../support/servers.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { namesIn, servers } from './listing.ts';

const shared = webAppOfFile();

async function listing(count: number): Promise<WebApp> {
  await listServers(shared().deps, servers(count));
  return shared();
}

test('the ranking is the home page and shows the figures of each rank', async () => {
  const web = shared();
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
  const web = shared();
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

test('a list by another order shows the figure that it is sorted by and keeps the order', async () => {
  const web = shared();
  const best = { online: 9, uptime: 99.5, reviews: { count: 3, ratingSum: 14 } };
  const others = Array.from({ length: 21 }, (_, i) => ({ name: `Alpha ${i}`, game: 'rust', votes: 30 - i }));
  await listServers(web.deps, [...others, { name: 'Best', game: 'rust', ...best }]);
  for (const [sort, name, figure] of [
    ['players', 'Players', '<b>9</b>'],
    ['newest', 'Newest', '<p class="votes">Listed <b><time'],
    ['rating', 'Rating', '<b>4.67</b> of 5 (3 reviews)'],
    ['uptime', 'Uptime', '<b>99.5 %</b> online'],
  ]) {
    const { body, headers } = await getPage(web, `/games/rust?sort=${sort}`);
    expect(namesIn(body)[0], sort).toBe('Best');
    expect(body).toContain(figure);
    // Only the first page by rank begins with a podium.
    expect(body).not.toContain('podium');
    expect(body).toMatch(new RegExp(`aria-current="true">${name}<`));
    expect(body).toContain(`name="sort" value="${sort}"`);
    expect(body).toContain(`sort=${sort}&amp;page=2" rel="next"`);
    expect(headers.link).toContain(`sort=${sort}>; rel="canonical"`);
    expect(body).toContain('<meta name="robots" content="noindex" />');
  }
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
  const web = shared();
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
  expect(body).not.toMatch(/[>:]2\.5\b/);
  const sent = '/?q=&country=&version=minecraft%3A1.21&game=';
  expect((await getPage(web, `${sent}minecraft`)).headers.location).toBe('/games/minecraft?version=1.21');
  expect((await getPage(web, `${sent}rust`)).headers.location).toBe('/games/rust');
  expect(namesIn((await getPage(web, '/?version=1.21')).body)).toEqual(['One']);
});

test('what cannot be meant is not asked for', async () => {
  const web = await listing(2);
  for (const path of [
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
  ])
    expect(namesIn((await getPage(web, path)).body), path).toHaveLength(2);
});

test('the home page has the figures of the whole listing; other lists have a slim head', async () => {
  const web = shared();
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
  const web = shared();
  await listServers(web.deps, [{ name: 'On', online: 1 }, { name: 'Off' }]);
  const { body } = await getPage(web, '/');
  expect(body.match(/class="state \w+"/g)).toEqual(['class="state off"']);
  expect(body).toMatch(/>Offline /);
});

test('the pages of all games and tags list those with servers, and lead to related lists', async () => {
  const web = shared();
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
  const web = shared();
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
  expect(answer.rawPayload.length).toBeLessThan(7_000);
});
