/**
 * Shows the effect of honest and of bought votes of 30 days on a rank: if only the votes count, and with the formula of
 * ADR 109:
 *
 *   node bench/ranking/evidence.ts
 *
 * It inserts votes with their networks, and the numbers of players that probes saw, day by day, on its own mongod. At
 * the end of each day the product computes the ranking. It prints the table of README.md in this folder.
 */
import { ObjectId, UUID } from 'mongodb';
import { bindCollections } from '../../src/database/collections.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { emptySums } from '../../src/history/daily-sums.ts';
import { after, HOUR } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { addDays, markDone, startOf } from '../../src/platform/periods/period-marks.ts';
import { rankVotesByDay, sumOfDays } from '../../src/ranking/evidence/rank-votes.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { newProbeState } from '../../src/servers/listed-servers.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { noDelivery } from '../../src/votes/vote.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { ORIGIN_STORED_MS, type VoteOrigin } from '../../src/votes/web/vote-origin.ts';
import { startMongod } from '../../test/support/services.ts';

const DAYS = 30;
const FIRST = '2026-10-01';

/**
 * The votes of a group of players on a day, with the names `0` to `votes - 1`. By default each name has its own
 * network.
 */
type Group = {
  name: string;
  votes: number;
  /** How many names share a network: by default 1; 0 for votes through the API. */
  together?: number;
  /** Whether the group votes on this day, 0 to 29; by default on every day. */
  on?: (day: number) => boolean;
  /** How often each name has already voted for the server. */
  before?: number;
};

type Simulated = { title: string; peak: number | null; groups: Group[] };

const honest = (votes: number, more: Partial<Group> = {}): Group => ({
  name: 'h',
  votes,
  before: 20,
  ...more,
});
const once = (day: number) => day === 20;
const schoolDay = (day: number) => day % 7 < 5;

const SERVERS: Simulated[] = [
  {
    title: 'honest, large: 600 players, 380 regulars and 40 new names a day',
    peak: 600,
    groups: [honest(380), { name: 'n', votes: 40 }],
  },
  {
    title: 'honest, small: 12 players, 36 regulars, four of them at home',
    peak: 12,
    groups: [honest(32), honest(4, { name: 'home', together: 4 })],
  },
  { title: 'the same through the API, 37 a day', peak: 12, groups: [honest(37, { together: 0 })] },
  { title: 'the same, a game that cannot be asked, 38 a day', peak: null, groups: [honest(38)] },
  {
    title: 'new on the list, 12 players, 39 voters a day',
    peak: 12,
    groups: [{ name: 'h', votes: 39 }],
  },
  {
    title: 'vote party: 120 players, 25 a day, and 200 new names on one day',
    peak: 120,
    groups: [honest(25), { name: 'party', votes: 200, on: once }],
  },
  {
    title: 'school: 15 players, 15 a day, and a class of 25 on school days',
    peak: 15,
    groups: [honest(15), { name: 'class', votes: 25, together: 25, on: schoolDay }],
  },
  {
    title: 'bought: 500 of one network on one day, beside 20 honest a day',
    peak: 12,
    groups: [honest(20), { name: 'b', votes: 500, together: 500, on: once }],
  },
  {
    title: 'bought: 500 of 50 networks on one day, beside 20',
    peak: 12,
    groups: [honest(20), { name: 'b', votes: 500, together: 10, on: once }],
  },
  {
    title: 'bought: 5,000 residential addresses on one day, beside 20',
    peak: 12,
    groups: [honest(20), { name: 'b', votes: 5_000, on: once }],
  },
  {
    title: 'bought: the same 500 residential addresses every day, beside 20',
    peak: 12,
    groups: [honest(20), { name: 'b', votes: 500 }],
  },
  {
    title: 'invented: 500 names through the API every day, nobody plays',
    peak: 0,
    groups: [{ name: 'b', votes: 500, together: 0 }],
  },
];

const mongod = await startMongod({ binary: await findMongod(ownEnvironment(), console.log), onDisk: true });
const log = createLogger({ LOG_LEVEL: 'silent' }, 'bench');
const mongo = await openMongo(`${mongod.uri}/bench_evidence`, log, { operationMs: 0 });
await migrateDatabase(mongo);
const collections = bindCollections(mongo);
let now = startOf(FIRST);
const deps = {
  ...collections,
  clock: { now: () => now },
  log,
  config: { LEASE_MS: 600_000, SECRET_KEY: 'a key of the benchmark only, 32 characters' },
};

function serverOf({ title }: Simulated, i: number) {
  return {
    _id: new ObjectId(),
    name: title,
    slug: `server-${i}`,
    slugs: [`server-${i}`],
    address: 'play.example.org',
    port: 25_565,
    isPremium: false,
    listedAt: after(startOf(FIRST), i),
    removedAt: null,
    rankPosition: i + 1,
    ranked: null,
    current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '' },
    daily: { averagePlayers: 0, peakPlayers: 0, probedUptime: 99 },
    probe: newProbeState(now),
  };
}

function voteOf(serverId: ObjectId, group: Group, i: number, seq: number, votedAt: Date): Vote {
  const username = `${group.name}${i}`;
  const source = group.together === 0 ? 'api' : 'web';
  const vote = { _id: new UUID(), serverId, username, usernameKey: username, seq, votedAt, source } as const;
  return { ...vote, tokenId: source === 'api' ? serverId : null, delivery: noDelivery() };
}

/** The networks of a group's votes on a day. */
function originsOf(serverId: ObjectId, group: Group, day: string): VoteOrigin[] {
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
      expiresAt: after(startOf(day), ORIGIN_STORED_MS + HOUR),
    };
  });
}

const listed = SERVERS.map((server, i) => ({ ...server, ...serverOf(server, i) }));
await collections.servers.insertMany(
  SERVERS.map((_, i) => {
    const { title: _title, peak: _peak, groups: _groups, ...server } = listed[i] as (typeof listed)[number];
    return server;
  }),
);
await markDone(deps, 'weigh-votes', FIRST);

for (let n = 0; n < DAYS; n++) {
  const day = addDays(FIRST, n);
  now = after(startOf(day), 23 * HOUR);
  for (const { _id: serverId, peak, groups } of listed) {
    if (peak !== null) {
      const probes = { ...emptySums(), onlineSeconds: 86_400, peakPlayers: peak };
      await collections.dailyStats.insertOne({
        _id: new ObjectId(),
        serverId,
        day,
        probes,
        reports: emptySums(),
      });
    }
    const today = groups.filter(({ on }) => on?.(n) ?? true);
    const votes = today.flatMap((group) => {
      const days = Array.from({ length: n }, (_, before) => group.on?.(before) ?? true);
      const seq = 1 + (group.before ?? 0) + days.filter(Boolean).length;
      return Array.from({ length: group.votes }, (_, i) => voteOf(serverId, group, i, seq, now));
    });
    const origins = today.flatMap((group) => originsOf(serverId, group, day));
    await collections.votes.insertMany(votes, { ordered: false });
    if (origins.length > 0) await collections.voteOrigins.insertMany(origins, { ordered: false });
    await collections.voteCounters.updateOne(
      { serverId, month: day.slice(0, 7) },
      { $set: { [`days.${day.slice(8)}`]: votes.length } },
      { upsert: true },
    );
  }
  await markDone(deps, 'aggregate-day', day);
  await recomputeRanks(deps);
}

const rows = await Promise.all(
  listed.map(async ({ _id, title }) => {
    const server = await collections.servers.findOne({ _id });
    const sum = sumOfDays(await rankVotesByDay(deps, _id, addDays(FIRST, DAYS - 1)));
    return { title, rank: server?.rankPosition ?? 0, ...sum };
  }),
);
const byVotes = rows.toSorted((a, b) => b.votes - a.votes);
console.log(
  '| Server, 30 days | Votes | Rank by votes | Votes for the rank | Rank | Waiting |\n|---|---|---|---|---|---|',
);
for (const row of rows) {
  const { title, votes, rankVotes, rank, waiting } = row;
  const shown = [votes, byVotes.indexOf(row) + 1, rankVotes, rank, waiting].map((n) =>
    n.toLocaleString('en'),
  );
  console.log(`| ${title} | ${shown.join(' | ')} |`);
}
await mongo.db.dropDatabase();
await mongo.close();
await mongod.stop();
