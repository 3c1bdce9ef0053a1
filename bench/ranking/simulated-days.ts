/**
 * Simulates a listing for 30 days: inserts votes with their networks, and the numbers of players that probes saw, day by
 * day, on its own mongod. At the end of each day the product computes the ranking.
 */
import { ObjectId, UUID } from 'mongodb';
import { bindCollections } from '../../src/database/collections.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { emptySums } from '../../src/history/daily-stats.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { after, HOUR } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { addDays, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { type RankDay, rankVotesByDay, sumOfDays } from '../../src/ranking/evidence/rank-votes.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { newProbeState } from '../../src/servers/listed-servers.ts';
import { KNOWN_AFTER, noDelivery, type Vote } from '../../src/votes/vote.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { ORIGIN_STORED_MS, type VoteOrigin } from '../../src/votes/web/vote-origin.ts';
import { startMongod } from '../../test/support/services.ts';

export const DAYS = 30;
export const FIRST = '2026-10-01';
/** Days before the first one on which probes saw the servers that were listed already. */
const DAYS_BEFORE = 10;

/**
 * The votes of a group of players on a day, with the names `0` to `votes - 1`. By default each name has its own
 * network.
 */
export type Group = {
  name: string;
  votes: number;
  /** How many names share a network: by default 1; 0 for votes through the API. */
  together?: number;
  /** Whether the group votes on this day, 0 to 29; by default on every day. */
  on?: (day: number) => boolean;
  /** How often each name has already voted for the server. */
  before?: number;
  /** Whether the names voted on the server's page often enough before; for votes through the API. */
  known?: boolean;
  /** Whether each day has other names. */
  fresh?: boolean;
};

/** `peak`: the most players that probes see on a day, which is negative before the first; null: they see no number. */
export type Simulated = { title: string; peak: (day: number) => number | null; groups: Group[] };

/** A server after 30 days. `ranks`: its rank at the end of each day. */
export type Outcome = { title: string; ranks: number[]; days: RankDay[] } & ReturnType<typeof sumOfDays>;

const log = createLogger({ LOG_LEVEL: 'silent' }, 'bench');

/** Runs `simulate` on a database of its own for each call; ends with mongod. */
export async function withSimulation(
  work: (simulate: (servers: Simulated[]) => Promise<Outcome[]>) => Promise<void>,
): Promise<void> {
  const mongod = await startMongod({ binary: await findMongod(ownEnvironment(), console.log), onDisk: true });
  let runs = 0;
  await work(async (servers) => {
    runs += 1;
    const mongo = await openMongo(`${mongod.uri}/bench_evidence_${runs}`, log, { operationMs: 0 });
    await migrateDatabase(mongo);
    const outcome = await simulate(bindCollections(mongo), servers);
    await mongo.db.dropDatabase();
    await mongo.close();
    return outcome;
  });
  await mongod.stop();
}

async function simulate(
  collections: ReturnType<typeof bindCollections>,
  simulated: Simulated[],
): Promise<Outcome[]> {
  let now = startOfDay(FIRST);
  const deps = {
    ...collections,
    clock: { now: () => now },
    log,
    config: {
      LEASE_MS: 600_000,
      SECRET_KEY: 'a key of the benchmark only, 32 characters',
      PAUSED_SERVERS: 'last' as const,
    },
  };
  const listed = simulated.map((server, i) => ({ ...server, _id: new ObjectId(), i, ranks: [] as number[] }));
  await collections.servers.insertMany(listed.map(serverOf));
  await markDone(deps, 'weigh-votes', FIRST);
  for (let n = -DAYS_BEFORE; n < DAYS; n++) {
    const day = addDays(FIRST, n);
    now = after(startOfDay(day), 23 * HOUR);
    await insertPlayers(deps, listed, n, day);
    if (n < 0) continue;
    for (const server of listed) await insertVotes(deps, server, n, now);
    await markDone(deps, 'aggregate-day', day);
    await recomputeRanks(deps);
    const ranked = await collections.servers.find({}, { projection: { rankPosition: 1 } }).toArray();
    const rankOf = new Map(ranked.map(({ _id, rankPosition }) => [_id.toHexString(), rankPosition]));
    for (const { _id, ranks } of listed) ranks.push(rankOf.get(_id.toHexString()) ?? 0);
  }
  return Promise.all(
    listed.map(async ({ _id, title, ranks }) => {
      const days = await rankVotesByDay(deps, _id, addDays(FIRST, DAYS - 1));
      return { title, ranks, days, ...sumOfDays(days) };
    }),
  );
}

type Collections = ReturnType<typeof bindCollections>;
type Listed = Simulated & { _id: ObjectId; i: number };

function serverOf({ title, _id, i }: Listed) {
  const now = startOfDay(FIRST);
  return {
    _id,
    name: title,
    slug: `server-${i}`,
    slugs: [`server-${i}`],
    address: 'play.example.org',
    port: 25_565,
    isPremium: false,
    listedAt: after(now, i),
    removedAt: null,
    rankPosition: i + 1,
    ranked: null,
    current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '' },
    daily: { averagePlayers: 0, peakPlayers: 0, probedUptime: 99 },
    probe: newProbeState(now),
  };
}

async function insertPlayers(
  { dailyStats }: Collections,
  listed: Listed[],
  n: number,
  day: string,
): Promise<void> {
  const stats = listed.flatMap(({ _id: serverId, peak }) => {
    const peakPlayers = peak(n);
    if (peakPlayers === null) return [];
    const probes = { ...emptySums(), onlineSeconds: 86_400, peakPlayers };
    return [{ _id: new ObjectId(), serverId, day, probes, reports: emptySums() }];
  });
  if (stats.length > 0) await dailyStats.insertMany(stats);
}

async function insertVotes(
  deps: Collections & { config: { SECRET_KEY: string } },
  { _id: serverId, groups }: Listed,
  n: number,
  now: Date,
): Promise<void> {
  const day = addDays(FIRST, n);
  const today = groups
    .filter(({ on }) => on?.(n) ?? true)
    .map((group) => (group.fresh ? { ...group, name: `${group.name}${n}-` } : group));
  const votes = today.flatMap((group) => {
    const days = Array.from({ length: n }, (_, before) => !group.fresh && (group.on?.(before) ?? true));
    const seq = 1 + (group.before ?? 0) + days.filter(Boolean).length;
    return Array.from({ length: group.votes }, (_, i) => voteOf(serverId, group, i, seq, now));
  });
  const origins = today.flatMap((group) => originsOf(deps, serverId, group, day));
  if (votes.length > 0) await deps.votes.insertMany(votes, { ordered: false });
  if (origins.length > 0) await deps.voteOrigins.insertMany(origins, { ordered: false });
  await deps.voteCounters.updateOne(
    { serverId, month: day.slice(0, 7) },
    { $set: { [`days.${day.slice(8)}`]: votes.length } },
    { upsert: true },
  );
}

function voteOf(serverId: ObjectId, group: Group, i: number, seq: number, votedAt: Date): Vote {
  const username = `${group.name}${i}`;
  const source = group.together === 0 ? 'api' : 'web';
  const pageVotes = source === 'web' ? seq : group.known ? KNOWN_AFTER : 0;
  const vote = { _id: new UUID(), serverId, username, usernameKey: username, seq, votedAt, source } as const;
  return {
    ...vote,
    ...(pageVotes > 0 ? { pageVotes } : {}),
    tokenId: source === 'api' ? serverId : null,
    delivery: noDelivery(),
  };
}

/** The networks of a group's votes on a day. */
function originsOf(
  deps: { config: { SECRET_KEY: string } },
  serverId: ObjectId,
  group: Group,
  day: string,
): VoteOrigin[] {
  const { name, votes, together = 1 } = group;
  if (together === 0) return [];
  return Array.from({ length: Math.ceil(votes / together) }, (_, n) => {
    const members = Array.from(
      { length: Math.min(together, votes - n * together) },
      (_, i) => n * together + i,
    );
    return {
      _id: `${serverId.toHexString()}-${name}-${n}:${day}`,
      kind: 'network',
      isAllowed: true,
      players: members.map((i) => ({ serverId, player: playerHash(deps, `${name}${i}`) })),
      expiresAt: after(startOfDay(day), ORIGIN_STORED_MS + HOUR),
    };
  });
}
