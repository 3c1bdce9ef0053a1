import { beforeAll, expect, test } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { searchListing } from '../../src/ranking/search-listing.ts';
import { listServers } from '../support/servers.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;

const NAMES = [
  'Mystic Realms',
  'Hypixel',
  'Rust Republic',
  'Crème de la Craft',
  'Straßenbande',
  '中文生存服务器',
  'Мир Кубов',
  'مملكة البحر',
  'ab',
  'X',
  'Mine Craft',
  'O’Malley’s Pub',
  '★ Stellar ★',
  'ＦＵＬＬ Width',
  'Last of a Thousand Craft Servers',
];

beforeAll(async () => {
  deps = await testDeps();
  // A thousand names with one word, all ranked above those that are looked for.
  const others = Array.from({ length: 1_000 }, (_, i) => ({
    name: `Craft ${i}`,
    game: 'rust',
    votes: 5_000 - i,
  }));
  const named = NAMES.map((name) => ({ name, game: 'minecraft', online: 1 }));
  const described = [
    { name: 'Amber', motd: '§6Welcome!§r\n§7Skyblock, 1.21', address: 'play.amberhall.net' },
    { name: 'Jade', motd: '纯净生电服务器' },
    { name: 'Onyx', motd: 'Ванильное выживание', address: '203.0.113.77' },
    { name: 'Message', motd: 'The Lagoon' },
    { name: 'Lagon' },
    { name: 'Lagoon' },
  ];
  await listServers(deps, [...others, ...named, ...described]);
}, 60_000);

const found = async (typed: string, filters = {}) =>
  (await searchListing(deps, typed, filters)).map(({ name }) => name);

test.each([
  ['as it is', 'Mystic Realms', 'Mystic Realms'],
  ['in another case', 'mYSTIC rEALMS', 'Mystic Realms'],
  ['one word of it', 'realms', 'Mystic Realms'],
  ['its beginning', 'myst', 'Mystic Realms'],
  ['in another order', 'realms mystic', 'Mystic Realms'],
  ['two letters swapped', 'Hypxiel', 'Hypixel'],
  ['a letter missing', 'hypxel', 'Hypixel'],
  ['a letter doubled', 'hyypixel', 'Hypixel'],
  ['another letter', 'hypizel', 'Hypixel'],
  ['the first letter wrong', 'jypixel', 'Hypixel'],
  ['a short word swapped', 'rsut', 'Rust Republic'],
  ['a mistake in each word', 'mistic relms', 'Mystic Realms'],
  ['without the space', 'mysticrealms', 'Mystic Realms'],
  ['with a space too many', 'hypi xel', 'Hypixel'],
  ['with a space too few', 'minecraft', 'Mine Craft'],
  ['without accents', 'creme de la craft', 'Crème de la Craft'],
  ['without its apostrophes', 'omalleys', 'O’Malley’s Pub'],
  ['ß as ss', 'strassenbande', 'Straßenbande'],
  ['without ornaments', 'stellar', '★ Stellar ★'],
  ['with plain letters', 'full width', 'ＦＵＬＬ Width'],
  ['two letters', 'ab', 'ab'],
  ['one letter', 'x', 'X'],
  ['Chinese', '中文生存', '中文生存服务器'],
  ['Chinese from the middle', '生存服', '中文生存服务器'],
  ['Cyrillic, misspelt', 'мир кубоф', 'Мир Кубов'],
  ['Arabic', 'البحر', 'مملكة البحر'],
  ['one of a thousand alike', 'craft 777', 'Craft 777'],
  ['one of a thousand alike, misspelt', 'crafy 777', 'Craft 777'],
  ['the last of all, misspelt', 'last of a tousand craft servers', 'Last of a Thousand Craft Servers'],
])('a name is found: %s', async (_, typed, name) => {
  expect((await found(typed))[0]).toBe(name);
});

test('of names that are alike the better ranked come first, a page of them at most', async () => {
  const alike = await searchListing(deps, 'craft');
  expect(alike).toHaveLength(20);
  expect(alike.map(({ rank }) => rank)).toEqual(alike.map(({ rank }) => rank).toSorted((a, b) => a - b));
  expect(alike[0]?.name).toBe('Craft 0');
});

test('filters narrow what is found', async () => {
  expect(await found('mine craft', { game: 'minecraft' })).toEqual(['Mine Craft']);
  // A thousand better ranked names have the word: they are the ones that are looked at.
  expect(await found('craft', { game: 'minecraft' })).toEqual([]);
  expect(await found('mystic realms', { game: 'rust' })).toEqual([]);
  expect(await found('mystic realms', { game: 'minecraft', online: true })).toEqual(['Mystic Realms']);
  expect(await found('mystic realms', { online: true, version: '1.21' })).toEqual([]);
});

test.each([
  ['a word of its message', 'skyblock', 'Amber'],
  ['a misspelt one', 'skyblok', 'Amber'],
  ['the beginning of one', 'skybl', 'Amber'],
  ['words of its name and its message', 'amber skyblock', 'Amber'],
  ['a word in Chinese', '生电', 'Jade'],
  ['a word in Cyrillic, misspelt', 'выжевание', 'Onyx'],
  ['its address', 'play.amberhall.net', 'Amber'],
  ['its address with a port', ' play.AmberHall.net:25565', 'Amber'],
  ['a part of its address', 'amberhall', 'Amber'],
  ['its address, misspelt', 'play.amberhal.net', 'Amber'],
  ['its IP address', '203.0.113.77', 'Onyx'],
])('a server is found by %s', async (_, typed, name) => {
  expect((await found(typed))[0]).toBe(name);
});

test('an address finds the servers at it or at its host, and no others', async () => {
  const own = await testDeps();
  await listServers(own, [
    { name: 'One', address: '127.0.0.1', game: 'rust' },
    { name: 'Two', address: '127.0.1.2' },
    { name: 'Three', address: 'play.example.org' },
    { name: 'Four', address: 'mc.example.org', motd: '127 0 1 1 25565' },
    { name: 'Five', address: '2001:db8::5' },
    { name: 'Six', address: 'play.example.org' },
  ]);
  await own.servers.updateOne({ name: 'Six' }, { $set: { port: 25_570 } });
  await recomputeRanks(own);
  const names = async (typed: string, filters = {}) =>
    (await searchListing(own, typed, filters)).map(({ name }) => name);
  expect(await names('127.0.1.2')).toEqual(['Two']);
  expect(await names('127.0.1.2:25565')).toEqual(['Two']);
  expect(await names('127.0.1.2:25566')).toEqual(['Two']);
  for (const nobodys of ['127.0.1.1', '127.0.1.1:25565', '2001:db8::6', 'play.exmple.org:25565'])
    expect(await names(nobodys), nobodys).toEqual([]);
  expect(await names('play.example.org:25570')).toEqual(['Six']);
  expect(await names(' Play.Example.org. ')).toEqual(['Three', 'Six']);
  expect(await names('play.exmple.org')).toEqual(expect.arrayContaining(['Three', 'Six']));
  for (const spelt of ['2001:DB8:0::5', '[2001:db8::5]', '[2001:db8::5]:25565'])
    expect(await names(spelt), spelt).toEqual(['Five']);
  expect(await names('127.0.0.1', { game: 'rust' })).toEqual(['One']);
  expect(await names('127.0.0.1', { game: 'minecraft' })).toEqual([]);
  await own.servers.updateOne({ name: 'Two' }, { $set: { hiddenAt: new Date() } });
  expect(await names('127.0.1.2')).toEqual([]);
});

test('a name with the word comes before a message with it, and the message before a misspelt name', async () => {
  expect(await found('lagoon')).toEqual(['Lagoon', 'Message', 'Lagon']);
});

test('a server is found by its tags, its short text and its description, misspelt too', async () => {
  const own = await testDeps();
  await listServers(own, [{ name: 'One' }, { name: 'Two' }]);
  const profile = {
    tags: ['skyblock', 'family-friendly'],
    shortText: 'Islands in the mist',
    description: '# Hello\n\nA **dungeon** crawler.',
  };
  await own.servers.updateOne({ name: 'Two' }, { $set: { profile } });
  await recomputeRanks(own);
  for (const typed of ['skyblock', 'skyblok', 'friendly', 'mist islands', 'dungeon', 'dungoen'])
    expect(
      (await searchListing(own, typed)).map(({ name }) => name),
      typed,
    ).toEqual(['Two']);
  const found = await searchListing(own, 'dungeon', { tag: 'pvp' });
  expect(found).toEqual([]);
});

test('a changed message is searched after the next ranking, and finds nothing false before', async () => {
  const own = await testDeps();
  await listServers(own, [{ name: 'One', motd: 'towny' }]);
  const names = async (typed: string) => (await searchListing(own, typed)).map(({ name }) => name);
  expect(await names('towny')).toEqual(['One']);
  await own.servers.updateMany({}, { $set: { 'current.motd': '§6§lBed§rwars' } });
  expect(await names('towny')).toEqual([]);
  await recomputeRanks(own);
  expect(await names('bedwars')).toEqual(['One']);
});

test.each([
  ['nothing', ''],
  ['spaces', '   '],
  ['a pattern that would take for ever', '(z+)+$'.repeat(20)],
  ['marks of a pattern', '^.*$[('],
  ['an operator', '{"$gt":""}'],
  ['NUL', '\0'],
  ['NUL in a name', 'zzz\0qqq'],
  ['an unpaired surrogate', '\ud83d'],
  ['ten thousand letters', 'z'.repeat(10_000)],
  ['ten thousand words', 'zq '.repeat(10_000)],
  ['ten thousand marks on a letter', `z${'\u0301'.repeat(10_000)}`],
  ['what no name is like', 'qqqqwwww'],
])('%s: nothing is found, quickly', async (_, typed) => {
  const [odd, usual]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round += 1) {
    const begun = performance.now();
    expect(await found(typed)).toEqual([]);
    const between = performance.now();
    await found('mystic realms');
    odd.push(between - begun);
    usual.push(performance.now() - between);
  }
  // Of the same moment, so on the same machine under the same load.
  expect(Math.min(...odd)).toBeLessThan(20 * Math.min(...usual));
});
