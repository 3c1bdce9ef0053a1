import { type AnyBulkWriteOperation, type Document, ObjectId } from 'mongodb';
import { writeSampleHistory, writeSampleReviews } from '../../src/demo/sample-history.ts';
import { chance } from '../../src/demo/sample-players.ts';
import { SAMPLES } from '../../src/demo/samples.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { emptySums } from '../../src/history/daily-stats.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { rankingDays } from '../../src/ranking/ranking-pipeline.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { newListing } from '../../src/servers/listed-servers.ts';
import { slugOf } from '../../src/servers/slug.ts';

const FIRST =
  'Amber Bright Copper Dawn Echo Frost Golden Hollow Iron Jade Kindred Lunar Misty North Obsidian Pixel Quiet River Silver Twin Under Velvet Wild Xenon Yonder Zephyr Alpha Boreal Crimson Drift';
const SECOND =
  'Harbour Keep Valley Craft Realm Isles Forge Hollow Grove Peaks Haven Frontier Quarry Reef Meadow Citadel Outpost Shores Woods Kingdom Lagoon Summit Tavern Village Wastes Garden Bastion Crossing Depths Empire';
const KINDS = [
  '',
  ' SMP',
  ' Network',
  ' Survival',
  ' Factions',
  ' Skyblock',
  ' Towny',
  ' PvP',
  ' RPG',
  ' Anarchy',
];
const GAMES = [
  'minecraft',
  'minecraft',
  'minecraft',
  'mbe',
  'rust',
  'valheim',
  'counterstrike2',
  'garrysmod',
];
/** The countries of the servers, all equally frequent. */
export const COUNTRIES = [
  'US',
  'DE',
  'GB',
  'FR',
  'BR',
  'PL',
  'NL',
  'SE',
  'CA',
  'AU',
  'JP',
  'TR',
  'ES',
  'IT',
  'FI',
];
const WORDS =
  'Survival Skyblock Towny Factions Creative Bedwars Economy Quests Crossplay Vanilla Hardcore Minigames Slimefun Prison Lifesteal Dungeons Pokemon Parkour Modded Roleplay Friendly Active Season Welcome'.split(
    ' ',
  );
/** The tags of the servers. They are in the tag list of a new listing. */
export const TAGS = ['survival', 'creative', 'economy', 'pvp', 'skyblock', 'factions', 'roleplay', 'vanilla'];
const DESCRIPTIONS = [
  ...WORDS,
  ...'build with friends on a map that never resets claim land trade in town win events every weekend and meet a kind team'.split(
    ' ',
  ),
];
const VERSIONS = ['Paper 1.21.4', 'Spigot 1.20.6', 'Purpur 1.19.4', '1.8.x – 1.21', 'Velocity 1.16-1.21', ''];

const pick = <T>(all: T[], seed: number): T => all[Math.floor(chance(seed) * all.length)] as T;

/** The name of the server with this rank, approximately. */
export function nameAt(i: number): string {
  const name = `${pick(FIRST.split(' '), i)} ${pick(SECOND.split(' '), i + 0.3)}${pick(KINDS, i + 0.6)}`;
  return i % 3 === 0 ? `${name} ${i % 1_000}` : name;
}

const BULK = 5_000;

/** The number of servers with 30 days of history. The measured pages show only these servers. */
const WITH_DAYS = 10_000;
/** The number of the measured page far down the ranking. */
const DEEP = 4_000;

const hasDays = (i: number, deep: number) => i < WITH_DAYS || (i >= 20 * (deep - 2) && i < 20 * (deep + 2));

/**
 * Describes the loaded data. `pages`: pages of 20 servers with 30 days of history; `deep`: a page far down the ranking;
 * `slug`: a server with all data.
 */
export type LoadedServers = { pages: number; deep: number; slug: string; seconds: Record<string, number> };

/**
 * Lists many servers with votes, adds history to those on the measured pages, and lets Tallyport compute figures, ranks
 * and the lists that pages read. `loadVotes`: inserts other votes, with their counters, than `countersOf` counts.
 */
export async function loadServers(
  deps: AppDeps,
  servers: number,
  loadVotes?: (serverIds: ObjectId[]) => Promise<unknown>,
): Promise<LoadedServers> {
  const deep = Math.min(DEEP, Math.floor(servers / 20) - 4);
  const seconds: Record<string, number> = {};
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    seconds[name] = (performance.now() - began) / 1_000;
  };
  const all: ObjectId[] = [];
  await timed('servers and votes', async () => {
    for (let from = 0; from < servers; from += BULK)
      all.push(...(await insertServers(deps, from, Math.min(BULK, servers - from), !loadVotes)));
    await loadVotes?.(all);
  });
  const withDays = all.filter((_, i) => hasDays(i, deep));
  await timed('days', () => insertDays(deps, withDays));
  await timed('figures', () => refreshDailyFigures(deps, { serverIds: withDays }));
  const slug = await addSample(deps);
  await timed('places and lists', () => recomputeRanks(deps));
  return { pages: Math.floor(Math.min(WITH_DAYS, servers) / 20), deep, slug, seconds };
}

async function insertServers(
  deps: AppDeps,
  from: number,
  count: number,
  hasCounters: boolean,
): Promise<ObjectId[]> {
  const now = deps.clock.now();
  const all = Array.from({ length: count }, (_, i) => serverAt(from + i, now));
  await deps.servers.insertMany(all as never, { ordered: false });
  const lists = all.filter((_, i) => i % 4 === 0).map(({ _id }, i) => reviewListOf(_id, from + i));
  await deps.reviewLists.insertMany(lists as never, { ordered: false });
  const counters = all.flatMap(({ _id }, i) => countersOf(_id, from + i, dayOf(now)));
  if (hasCounters) await deps.voteCounters.insertMany(counters as never, { ordered: false });
  return all.map(({ _id }) => _id);
}

/** The figures of a server's reviews, without the reviews. */
function reviewListOf(_id: ObjectId, i: number): Document {
  const count = 1 + Math.floor(40 * chance(i + 0.15));
  return { _id, count, ratingSum: Math.round(count * (2 + 3 * chance(i + 0.25))), spread: {}, entries: [] };
}

function serverAt(i: number, now: Date): Document & { _id: ObjectId } {
  const _id = new ObjectId();
  const name = nameAt(i);
  const slug = `${slugOf(name, _id.toHexString())}-${i}`;
  const settings = {
    name,
    address: `${pick(['play', 'mc', 'join'], i + 0.8)}.${name.split(' ').slice(0, 2).join('').toLowerCase()}${i % 1_000}.${pick(['net', 'com', 'org', 'gg'], i + 0.9)}`,
    port: 25_565,
    queryPort: null,
    game: pick(GAMES, i + 0.1),
    countryCode: pick(COUNTRIES, i + 0.2),
    isPremium: i % 50 === 0,
  };
  const listedAt = after(now, -(40 + (i % 1_000)) * DAY);
  const listing = newListing({ _id, settings, now, listedAt, rankPosition: i + 1 });
  const isOnline = i % 5 !== 0;
  const places = pick([20, 50, 100, 200, 1_000], i + 0.4);
  return {
    ...listing,
    slug,
    slugs: [slug],
    profile: {
      shortText: [1, 2, 3, 4, 5, 6].map((n) => pick(WORDS, i + n / 11)).join(' '),
      description: Array.from({ length: 60 }, (_, n) => pick(DESCRIPTIONS, i + n / 61)).join(' '),
      tags: [...new Set([1, 2, 3, 4].map((n) => pick(TAGS, i + n / 13)))],
    },
    current: {
      ...listing.current,
      onlinePlayers: isOnline ? Math.floor(places * chance(i + 0.7)) : 0,
      maxPlayers: places,
      motd: `§6${name}§r\n§7${[1, 2, 3, 4].map((n) => pick(WORDS, i + n / 7)).join(' ')}`,
      version: pick(VERSIONS, i + 0.5),
      checkedAt: now,
    },
    probe: {
      ...listing.probe,
      status: isOnline ? 'online' : 'offline',
      latencyMs: isOnline ? 40 : null,
      checkedAt: now,
      succeededAt: now,
      // The servers are not probed during the benchmark, so their status does not change.
      intervalSeconds: 86_400,
      nextAt: after(now, DAY),
      urgent: false,
    },
  };
}

/**
 * The vote counters of a server. The higher its number, the fewer votes, so the ranks are approximately the numbers.
 */
function countersOf(serverId: ObjectId, i: number, today: string): Document[] {
  const months = new Map<string, Record<string, number>>();
  for (const [n, day] of rankingDays(today).entries()) {
    const days = months.get(day.slice(0, 7)) ?? {};
    const votes = Math.floor(3_000 / (1 + i / 300) + 2 * chance(i + n));
    if (votes > 0) days[day.slice(8)] = votes;
    months.set(day.slice(0, 7), days);
  }
  return [...months].map(([month, days]) => ({ _id: new ObjectId(), serverId, month, days }));
}

async function insertDays(deps: AppDeps, ids: ObjectId[]): Promise<void> {
  const today = dayOf(deps.clock.now());
  const days = Array.from({ length: 30 }, (_, ago) => addDays(today, -ago - 1));
  for (let from = 0; from < ids.length; from += BULK / 50) {
    const writes = ids.slice(from, from + BULK / 50).flatMap((serverId, i) =>
      days.map((day, n): AnyBulkWriteOperation<Document> => {
        const probes = { ...emptySums(), onlineSeconds: 86_000, offlineSeconds: 400 };
        const players = 5 + Math.floor(100 * chance(from + i + n / 31));
        const sums = { ...probes, playerSeconds: 86_000 * players, peakPlayers: 2 * players };
        const latency = { latencySum: 86_000 * 40, latencySeconds: 86_000 };
        const document = { serverId, day, probes: { ...sums, ...latency }, reports: emptySums() };
        return { insertOne: { document } };
      }),
    );
    await deps.dailyStats.bulkWrite(writes as never, { ordered: false });
  }
}

/** Adds a server with all the data that its page shows: samples every five minutes, votes, reviews. */
async function addSample(deps: AppDeps): Promise<string> {
  const [sample] = SAMPLES;
  const now = deps.clock.now();
  const server = serverAt(1, now);
  if (!sample) throw new Error('there are no samples');
  const slug = 'harbour-lights';
  const about = { name: sample.name, slug, slugs: [slug], howToVote: sample.howToVote };
  const current = { motd: sample.motd, version: sample.version, onlinePlayers: 70, maxPlayers: 120 };
  await deps.servers.insertOne({
    ...server,
    ...about,
    current: {
      ...(server as unknown as { current: Document }).current,
      ...current,
      checkedAt: after(now, -MINUTE),
    },
  } as never);
  const listed = { serverId: server._id, sample };
  await writeSampleHistory(deps, [listed]);
  await writeSampleReviews(deps, listed);
  return slug;
}
