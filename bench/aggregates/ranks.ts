/**
 * Compares the ranking with a bare pipeline that computes the same ranks, on its own mongod:
 *
 *   node bench/aggregates/ranks.ts
 *
 * Both read the counters; no votes are inserted. The bare peer looks up the counters of each server and merges every
 * rank, in one aggregation.
 */
import { ObjectId } from 'mongodb';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { bindCollections } from '../../src/process/collections.ts';
import { migrateDatabase } from '../../src/process/migrate.ts';
import { rankingDays } from '../../src/ranking/ranking-days.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { listServers, newProbeState } from '../../src/servers/listing.ts';
import { startMongod } from '../../test/support/services.ts';

const SIZES = [
  { servers: 10_000, votes: 1_000_000, rounds: 3 },
  { servers: 100_000, votes: 10_000_000, rounds: 1 },
];
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
  const months = new Map<string, Record<string, number>>();
  for (const [n, day] of days.entries()) {
    const month = months.get(day.slice(0, 7)) ?? {};
    month[day.slice(8)] = Math.round(share + ((i + n) % 3));
    months.set(day.slice(0, 7), month);
  }
  return [...months].map(([month, counted]) => ({ _id: new ObjectId(), serverId, month, days: counted }));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

for (const { servers, votes, rounds } of SIZES) {
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
    config: { LEASE_MS: 30_000, SECRET_KEY: 'a key of the benchmark only, 32 characters' },
  };
  const ours = () => recomputeRanks(deps);
  const shuffle = () =>
    collections.servers.updateMany({}, [
      { $set: { rankPosition: { $add: ['$rankPosition', 1] }, ranked: null } },
    ]);

  // Every rank changes: the largest number of writes.
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
  await mongo.db.dropDatabase();
  await mongo.close();
}
await mongod.stop();
