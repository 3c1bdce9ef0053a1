/**
 * Compares the ranking with a bare pipeline that computes the same ranks, on its own mongod:
 *
 *   node bench/aggregates/ranks.ts [servers]
 *
 * Both read the counters, and ours also what each day weighs: all of it is stored, except yesterday's at the end of the
 * smaller size, where the votes of that day are inserted and weighed. The bare peer looks up the counters of each server
 * and merges every rank, in one aggregation.
 */
import { ObjectId, UUID } from 'mongodb';
import { bindCollections, type Collections } from '../../src/database/collections.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { after, HOUR, systemClock } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { addDays, dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { ALWAYS_FULL } from '../../src/ranking/evidence/due-days.ts';
import { rankingDays } from '../../src/ranking/ranking-pipeline.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { listServers, newProbeState } from '../../src/servers/listed-servers.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';
import { startMongod } from '../../test/support/services.ts';

const SIZES = [
  { servers: 10_000, votes: 1_000_000, rounds: 3, weighs: true },
  { servers: 100_000, votes: 10_000_000, rounds: 1, weighs: false },
].filter(({ servers }) => process.argv.length < 3 || process.argv.includes(String(servers)));
const BULK = 5_000;

const mongod = await startMongod({ binary: await findMongod(ownEnvironment(), console.log), onDisk: true });
const log = createLogger({ LOG_LEVEL: 'silent' }, 'bench');
const clock = systemClock();
const days = rankingDays(dayOf(clock.now()));

function server(i: number) {
  const _id = new ObjectId();
  return {
    _id,
    name: `Server ${i}`,
    slug: `server-${i}`,
    slugs: [`server-${i}`],
    address: 'play.example.org',
    port: 25_565,
    isPremium: false,
    listedAt: new Date(Date.UTC(2025, 0, 1) + i * 60_000),
    removedAt: null,
    rankPosition: i + 1,
    ranked: null,
    current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '' },
    daily: { averagePlayers: 0, peakPlayers: 0, probedUptime: i % 3 ? (i * 7) % 100 : null },
    probe: newProbeState(clock.now()),
  };
}

/** `votes` in total: many for some servers and few for most, spread over the 30 days. */
function counters(serverId: ObjectId, i: number, mean: number) {
  const share = (mean / 30) * (0.2 + 1.6 * (((i * 2_654_435_761) % 1_000) / 1_000));
  const months = new Map<string, { days: Record<string, number>; weighed: Record<string, number> }>();
  for (const [n, day] of days.entries()) {
    const month = months.get(day.slice(0, 7)) ?? { days: {}, weighed: {} };
    const of = Math.round(share + ((i + n) % 3));
    month.days[day.slice(8)] = of;
    if (of > ALWAYS_FULL) month.weighed[day.slice(8)] = of;
    months.set(day.slice(0, 7), month);
  }
  return [...months].map(([month, counted]) => ({ _id: new ObjectId(), serverId, month, ...counted }));
}

/** Inserts the votes of a day, as many as its counters say. Each vote has a new player name. */
async function addVotes({ votes, voteCounters }: Collections, day: string): Promise<void> {
  const at = after(startOfDay(day), HOUR);
  const more = { delivery: noDelivery(), tokenId: null, seq: 1, votedAt: at, source: 'web' } as const;
  let some: Vote[] = [];
  for await (const { serverId, days } of voteCounters.find({ month: day.slice(0, 7) })) {
    for (let i = 0; i < (days[day.slice(8)] ?? 0); i++)
      some.push({ _id: new UUID(), serverId, username: `name ${i}`, usernameKey: `name ${i}`, ...more });
    if (some.length < BULK) continue;
    await votes.insertMany(some, { ordered: false });
    some = [];
  }
  if (some.length > 0) await votes.insertMany(some, { ordered: false });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

for (const { servers, votes, rounds, weighs } of SIZES) {
  const mongo = await openMongo(`${mongod.uri}/bench_${servers}`, log, { operationMs: 0 });
  await migrateDatabase(mongo);
  const collections = bindCollections(mongo);
  for (let from = 0; from < servers; from += BULK) {
    const some = Array.from({ length: Math.min(BULK, servers - from) }, (_, i) => server(from + i));
    await collections.servers.insertMany(some);
    await collections.voteCounters.insertMany(
      some.flatMap(({ _id }, i) => counters(_id, from + i, votes / servers)),
    );
  }
  await markDone({ ...collections, clock }, 'weigh-votes', days[0] ?? '');
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const bare = () =>
    collections.servers
      .aggregate(
        [
          { $match: { removedAt: null } },
          {
            $lookup: {
              from: 'vote_counters',
              localField: '_id',
              foreignField: 'serverId',
              pipeline: [{ $match: { month: { $in: months } } }],
              as: 'counters',
            },
          },
          {
            $set: {
              votes: {
                $sum: {
                  $map: {
                    input: '$counters',
                    in: {
                      $sum: {
                        $map: {
                          input: {
                            $filter: {
                              input: { $objectToArray: '$$this.days' },
                              as: 'day',
                              cond: { $in: [{ $concat: ['$$this.month', '-', '$$day.k'] }, days] },
                            },
                          },
                          as: 'day',
                          in: '$$day.v',
                        },
                      },
                    },
                  },
                },
              },
            },
          },
          {
            $setWindowFields: {
              sortBy: { votes: -1, 'daily.probedUptime': -1, listedAt: 1, _id: 1 },
              output: { place: { $sum: 1, window: { documents: ['unbounded', 'current'] } } },
            },
          },
          { $project: { rankPosition: '$place' } },
          { $merge: { into: 'servers', on: '_id', whenMatched: 'merge', whenNotMatched: 'discard' } },
        ],
        { allowDiskUse: true },
      )
      .toArray();
  const deps = {
    ...collections,
    clock,
    log,
    config: {
      LEASE_MS: 30_000,
      SECRET_KEY: 'a key of the benchmark only, 32 characters',
      PAUSED_SERVERS: 'last' as const,
    },
  };
  const ours = () => recomputeRanks(deps);
  const shuffle = () =>
    collections.servers.updateMany({}, [
      { $set: { rankPosition: { $add: ['$rankPosition', 1] }, ranked: null } },
    ]);

  // Every rank changes, which causes the largest number of writes.
  const times = { bare: [] as number[], all: [] as number[], none: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    await shuffle();
    times.bare.push(await timed(bare));
    const places = (await listServers(collections)).map(({ _id }) => _id.toHexString());
    await shuffle();
    times.all.push(await timed(ours));
    const again = (await listServers(collections)).map(({ _id }) => _id.toHexString());
    if (again.join() !== places.join()) throw new Error('the two rankings differ');
    times.none.push(await timed(ours));
  }
  const [peer, all, none] = [median(times.bare), median(times.all), median(times.none)];
  console.log(
    `${servers} servers, ${votes} votes: bare ${peer.toFixed(0)} ms; every rank new ${all.toFixed(0)} ms (${(all / peer).toFixed(2)}); none new ${none.toFixed(0)} ms (${(none / peer).toFixed(2)})`,
  );
  if (weighs) {
    const yesterday = addDays(dayOf(clock.now()), -1);
    await addVotes(collections, yesterday);
    await collections.voteCounters.updateMany({}, { $unset: { [`weighed.${yesterday.slice(8)}`]: true } });
    let weighed = 0;
    const ms = await timed(async () => {
      ({ weighed } = await ours());
    });
    console.log(
      `  with the votes of a day of ${weighed} servers: ${ms.toFixed(0)} ms (${(ms / peer).toFixed(2)}), once a day`,
    );
  }
  await mongo.db.dropDatabase();
  await mongo.close();
}
await mongod.stop();
