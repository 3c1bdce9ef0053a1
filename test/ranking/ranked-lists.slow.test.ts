import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type Filters, passes } from '../../src/ranking/filters.ts';
import { readListingSummary, readListPage } from '../../src/ranking/read-lists.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { searchListing } from '../../src/ranking/search-listing.ts';
import { addServer, editServer } from '../../src/servers/listed-servers.ts';
import { hideServer, unhideServer } from '../../src/servers/moderate-server.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { listServers } from '../support/servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

/** The names on every page of a list, in their order. */
async function allPages(deps: AppDeps, filters: Filters): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const found = await readListPage(deps, filters, page);
    if (!found) return names;
    names.push(...found.rows.map(({ name }) => name));
  }
}

const GAMES = ['minecraft', 'rust', null];
const COUNTRIES = ['DE', 'FR', 'US', null];
const VERSIONS = ['Paper 1.21.4', '1.20.x – 1.21', 'Requires MC 1.8 / 1.21', ''];

const servers = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `Server ${i}`,
    game: GAMES[i % 3] ?? null,
    countryCode: COUNTRIES[i % 4] ?? null,
    online: i % 5 === 0 ? null : i,
    version: VERSIONS[i % 7] ?? '1.19',
    votes: 1_000 - i,
  }));

it('has each server once, in the order of the ranking, on pages of twenty', async () => {
  const deps = await testDeps();
  await listServers(deps, servers(425));
  const ranked = await deps.servers.find().sort({ rankPosition: 1 }).toArray();
  expect(await allPages(deps, {})).toEqual(ranked.map(({ name }) => name));
  // Parts of lists end between pages: page 11 begins a new one.
  const page = await readListPage(deps, {}, 11);
  expect(page?.rows.map(({ rank }) => rank)).toEqual(Array.from({ length: 20 }, (_, i) => 201 + i));
  expect(page).toMatchObject({ total: 425, pages: 22 });
  expect((await readListPage(deps, {}, 22))?.rows).toHaveLength(5);
  expect(await readListPage(deps, {}, 23)).toBeNull();
  expect(await readListPage(deps, {}, 9_999_999)).toBeNull();
});

it('has, for every set of filters, exactly the servers that pass, by rank', async () => {
  const deps = await testDeps();
  await listServers(deps, servers(130));
  const ranked = await deps.servers.find().sort({ rankPosition: 1 }).toArray();
  const now = deps.clock.now();
  for (const game of [undefined, 'minecraft', 'rust', 'gone']) {
    for (const country of [undefined, 'DE', 'US', 'ZZ']) {
      for (const online of [undefined, true]) {
        for (const version of [undefined, '1.21', '1.8', '1.19']) {
          const filters = { game, country, online, version };
          const expected = ranked.filter((server) => passes(server, filters, now)).map(({ name }) => name);
          expect(await allPages(deps, filters), JSON.stringify(filters)).toEqual(expected);
        }
      }
    }
  }
});

it('says what there is to filter by, the most frequent first', async () => {
  const deps = await testDeps();
  expect(await readListingSummary(deps)).toMatchObject({ servers: 0, games: [] });
  await listServers(deps, [
    { game: 'rust', countryCode: 'DE', online: 3, version: '1.21.4' },
    { game: 'minecraft', countryCode: 'DE', version: '1.21.1' },
    { game: 'minecraft', online: 1, version: '1.8' },
    { game: 'mbe', hiddenAt: new Date() },
  ]);
  expect(await readListingSummary(deps)).toMatchObject({
    servers: 3,
    online: 2,
    games: [
      { value: 'minecraft', servers: 2 },
      { value: 'rust', servers: 1 },
    ],
    countries: [{ value: 'DE', servers: 2 }],
    versions: [
      { value: '1.21', servers: 2 },
      { value: '1.8', servers: 1 },
    ],
  });
});

it('shows hidden and removed servers no more, at once, and those that are shown again', async () => {
  const deps = await testDeps();
  const [first = new ObjectId(), second = new ObjectId()] = await listServers(deps, servers(3));
  await hideServer(deps, first, { reason: 'It is a copy.' }, 'test');
  await removeServer(deps, second, 'test');
  expect(await allPages(deps, {})).toEqual(['Server 2']);
  expect(await searchListing(deps, 'Server 0')).toMatchObject([{ name: 'Server 2' }]);
  await recomputeRanks(deps);
  expect((await readListPage(deps, {}, 1))?.total).toBe(1);
  await unhideServer(deps, first, 'test');
  await recomputeRanks(deps);
  expect(await allPages(deps, {})).toEqual(['Server 0', 'Server 2']);
});

it('follows what servers become: listed, renamed, moved to another game, online, empty lists gone', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const asked: string[] = [];
  const producer = { add: async (queue: string) => asked.push(queue) > 0 } as never;
  const withProducer = { ...deps, producer };
  const [server = new ObjectId()] = await listServers(deps, [{ name: 'Alpha', game: 'rust', online: 1 }]);
  await addServer(withProducer, { name: 'Beta', address: 'b.example', port: 1_000 } as never, 'test');
  await editServer(withProducer, server, { name: 'Omega', game: 'minecraft' }, 'test');
  await editServer(withProducer, server, { isPremium: true }, 'test');
  expect(asked).toEqual(['recompute-ranks', 'recompute-ranks']);
  await recomputeRanks(deps);
  expect(await allPages(deps, { game: 'minecraft' })).toEqual(['Omega']);
  expect(await deps.rankedLists.findOne({ _id: /rust/ })).toBeNull();
  expect((await searchListing(deps, 'omega')).map(({ name }) => name)).toEqual(['Omega']);
  expect(await searchListing(deps, 'alpha')).toEqual([]);
  // What is known fades: the row says so at once, the list with the next ranking.
  await deps.servers.updateOne(
    { _id: server },
    { $set: { 'probe.status': 'online', 'probe.checkedAt': clock.now() } },
  );
  await recomputeRanks(deps);
  clock.move(HOUR);
  expect((await readListPage(deps, { online: true }, 1))?.rows).toMatchObject([{ status: 'unknown' }]);
  await recomputeRanks(deps);
  expect(await readListPage(deps, { online: true }, 1)).toMatchObject({ rows: [], total: 0, pages: 1 });
});

it('makes the lists of what an older version listed with the migration', async () => {
  const deps = await testDeps();
  await listServers(deps, servers(3));
  await deps.rankedLists.deleteMany({});
  await deps.listingSummary.deleteMany({});
  expect(await allPages(deps, {})).toEqual([]);
  await migrateDatabase(deps.mongo);
  expect(await allPages(deps, {})).toEqual(['Server 0', 'Server 1', 'Server 2']);
  expect(await searchListing(deps, 'server 2')).toMatchObject([{ name: 'Server 2' }, {}, {}]);
});

it('writes only what changed', async () => {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  await listServers(deps, servers(50));
  const { db } = deps.mongo;
  const writes = async () => {
    await db.command({ profile: 2 });
    await recomputeRanks(deps);
    await db.command({ profile: 0 });
    const profile = db.collection('system.profile');
    const ofLists = { ns: `${db.databaseName}.ranked_lists`, op: { $in: ['update', 'remove', 'insert'] } };
    const found = await profile.countDocuments(ofLists);
    await profile.drop();
    return found;
  };
  expect(await writes()).toBe(0);
  clock.move(7 * HOUR);
  // All of them are unknown by now: no list of online servers is left, the others stand.
  expect(await writes()).toBeGreaterThan(0);
  clock.move(MINUTE);
  expect(await writes()).toBe(0);
});

it('shows in each row the votes that decided its rank, also of another month', async () => {
  const deps = await testDeps();
  const [server = new ObjectId()] = await listServers(deps, [{ votes: 5 }, { votes: 8 }, {}]);
  const twentyDaysAgo = after(deps.clock.now(), -20 * DAY)
    .toISOString()
    .slice(0, 10);
  const [month, day] = [twentyDaysAgo.slice(0, 7), `days.${twentyDaysAgo.slice(8)}`];
  await deps.voteCounters.updateOne({ serverId: server, month }, { $inc: { [day]: 7 } }, { upsert: true });
  await recomputeRanks(deps);
  const { rows = [] } = (await readListPage(deps, {}, 1)) ?? {};
  expect(rows.map(({ votesCount }) => votesCount)).toEqual([12, 8, 0]);
});

/** What the orders compare; the first is the best ranked. */
const FIGURES = [
  { online: 5, uptime: 99.5, reviews: { count: 2, ratingSum: 10 } },
  { online: 50, uptime: 99.5, reviews: { count: 3, ratingSum: 12 } },
  { online: null, uptime: null },
  { online: 0, uptime: 100, reviews: { count: 0, ratingSum: 0 } },
  { online: 50, uptime: 0, reviews: { count: 40, ratingSum: 160 } },
  { online: 7, uptime: 99.999, reviews: { count: 9, ratingSum: 40 } },
].map((figures, i) => ({ ...figures, name: `S${i}`, votes: 100 - i, game: i % 2 ? 'rust' : 'minecraft' }));

it.each([
  // Equal figures keep the order of the ranking; offline servers come after online ones without players.
  ['players', ['S1', 'S4', 'S5', 'S0', 'S3', 'S2']],
  ['newest', ['S5', 'S4', 'S3', 'S2', 'S1', 'S0']],
  // Two perfect reviews do not beat forty good ones; of equal averages the one of more reviews is first.
  ['rating', ['S5', 'S4', 'S1', 'S0', 'S2', 'S3']],
  ['uptime', ['S3', 'S5', 'S0', 'S1', 'S4', 'S2']],
] as const)('lists servers by %s, also those that pass filters', async (sort, expected) => {
  const deps = await testDeps();
  await listServers(deps, FIGURES);
  const names = async (filters: Filters) =>
    (await readListPage(deps, filters, 1, sort))?.rows.map(({ name }) => name);
  expect(await names({})).toEqual(expected);
  const odd = expected.filter((name) => Number(name.slice(1)) % 2);
  expect(await names({ game: 'rust' })).toEqual(odd);
  expect(await readListPage(deps, { game: 'mbe' }, 1, sort)).toMatchObject({ rows: [], total: 0 });
});

it('lists by players, page by page, every server once', async () => {
  const deps = await testDeps();
  await listServers(deps, servers(425));
  const names = new Set<string>();
  for (let page = 1; page <= 22; page += 1) {
    const found = await readListPage(deps, {}, page, 'players');
    for (const { name } of found?.rows ?? []) names.add(name);
  }
  expect(names.size).toBe(425);
  expect(await readListPage(deps, {}, 23, 'players')).toBeNull();
  const first = await readListPage(deps, {}, 1, 'players');
  expect(first?.rows.slice(0, 3).map(({ onlinePlayers }) => onlinePlayers)).toEqual([424, 423, 422]);
});

it('forgets a name’s pieces whatever letters they begin with', async () => {
  const deps = await testDeps();
  const [id = new ObjectId()] = await listServers(deps, [{ name: '𠮷野家' }]);
  const pieces = () => deps.rankedLists.distinct('_id', { _id: /^n:/ });
  expect(await pieces()).toContain('n:𠮷野家/0');
  await editServer(deps, id, { name: 'Omega' }, 'test');
  await recomputeRanks(deps);
  expect((await pieces()).filter((key) => /[^\p{ASCII}]/u.test(key))).toEqual([]);
});

it('names that were written half-way are written anew, though they are what they were before', async () => {
  const deps = await testDeps();
  const [id = new ObjectId()] = await listServers(deps, [{ name: 'Alpha' }]);
  await editServer(deps, id, { name: 'Omega' }, 'test');
  // Killed when the names' pieces are there and the summary is not.
  const killed = { ...deps, listingSummary: Object.create(deps.listingSummary) };
  killed.listingSummary.replaceOne = () => Promise.reject(new Error('killed'));
  await expect(recomputeRanks(killed)).rejects.toThrow('killed');
  await editServer(deps, id, { name: 'Alpha' }, 'test');
  await recomputeRanks(deps);
  expect(await searchListing(deps, 'alpha')).toMatchObject([{ name: 'Alpha' }]);
});

it('has every page that its first one tells of, also when a ranking is killed while it writes', async () => {
  const deps = await testDeps();
  await listServers(deps, servers(200));
  await addServer(deps, { name: 'One more', address: 'b.example', port: 1_000 } as never, 'test');
  const killed = { ...deps, rankedLists: Object.create(deps.rankedLists) };
  killed.rankedLists.bulkWrite = async (writes: never[]) => {
    await deps.rankedLists.bulkWrite(writes.slice(0, 1));
    throw new Error('killed');
  };
  await expect(recomputeRanks(killed)).rejects.toThrow('killed');
  const { pages = 0 } = (await readListPage(deps, {}, 1)) ?? {};
  expect(pages).toBeGreaterThanOrEqual(10);
  expect(await readListPage(deps, {}, pages)).not.toBeNull();
});
