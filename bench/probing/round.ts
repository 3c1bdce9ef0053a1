/**
 * Measures rounds of probes by real workers and a scheduler, against local game servers that lose a share of the
 * requests:
 *
 *   node bench/probing/round.ts [servers] [seconds of a round] [share lost] [workers] [rounds]
 *
 * Prints how many servers were not probed and how many were called offline (both must be 0), how late the latest probe
 * was, and the CPU time and memory of each kind of process. Servers are due again after five minutes, so with several
 * rounds each must last 300 seconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { after, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer, PROBE_INTERVAL_SECONDS } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { watchCpu, watchMemory } from '../delivery/figures.ts';

const [count = 10_000, seconds = PROBE_INTERVAL_SECONDS, lost = 0.02, workers = 1, rounds = 1] = process.argv
  .slice(2)
  .map(Number);
if (rounds > 1 && seconds !== PROBE_INTERVAL_SECONDS) {
  console.error(`Several rounds take ${PROBE_INTERVAL_SECONDS} seconds each.`);
  process.exit(2);
}

/** How long the probes that start at the end of the last round may take. */
const LAST_ANSWERS_MS = 15 * SECOND;
const BATCH = 5_000;

type Place = { game: string; port: number };

/** Lists servers that were seen online and are due evenly over the round. */
async function list(deps: AppDeps, places: Place[]): Promise<void> {
  const { servers } = deps;
  const added = { name: 'Bench', address: '127.0.0.1', port: 1, game: 'minecraft' };
  const { serverId } = await addServer(deps, added, 'bench');
  const model = (await servers.findOneAndDelete({ _id: new ObjectId(serverId) })) as Server;
  const now = new Date();
  const all = Array.from({ length: count }, (_, i) => {
    const { game, port } = places[i % places.length] as Place;
    const dueAt = after(now, (i / count) * seconds * SECOND);
    const probe = { ...model.probe, checkedAt: now, succeededAt: now, nextAt: dueAt, scheduledAt: dueAt };
    const slug = `bench-${i}`;
    return {
      ...model,
      _id: new ObjectId(),
      slug,
      slugs: [slug],
      game,
      port,
      probe: { ...probe, status: 'online' as const },
    };
  });
  for (let from = 0; from < count; from += BATCH) await servers.insertMany(all.slice(from, from + BATCH));
  // Inserting many servers takes a while, so their times are moved to now.
  const ms = Date.now() - now.getTime();
  await servers.updateMany({}, [
    {
      $set: {
        'probe.nextAt': { $add: ['$probe.nextAt', ms] },
        'probe.scheduledAt': { $add: ['$probe.scheduledAt', ms] },
      },
    },
  ]);
}

/** For how many seconds the server that waits longest has been due. */
async function latest({ servers }: AppDeps): Promise<number> {
  const now = new Date();
  const isDue = { removedAt: null, game: { $type: 'string' as const }, 'probe.nextAt': { $lte: now } };
  const [oldest] = await servers
    .find(isDue)
    .sort({ 'probe.nextAt': 1 })
    .limit(1)
    .project<Pick<Server, 'probe'>>({ probe: 1 })
    .toArray();
  return oldest ? (now.getTime() - oldest.probe.nextAt.getTime()) / SECOND : 0;
}

const far = fork(new URL('round-responders.ts', import.meta.url), [String(lost)]);
const [places] = (await once(far, 'message')) as [Place[]];
const environment = await openEnvironment({ PROBES: 'on' });
const { deps } = environment;
const working = await Promise.all(Array.from({ length: workers }, () => environment.worker()));
await list(deps, places);
const began = performance.now();
const scheduler = await environment.program('workers/scheduler.ts');
const pids = {
  worker: working.map(({ pid }) => pid),
  scheduler: [scheduler.pid],
  mongod: [environment.mongodPid],
  redis: [environment.redisPid],
  responders: [far.pid ?? 0],
};
const cpu = await watchCpu(pids);
const late: number[] = [];
const memory = watchMemory(pids);
const until = began + rounds * seconds * SECOND;
while (performance.now() < until) {
  await pause(2 * SECOND);
  late.push(await latest(deps));
  await memory.measure();
}
const used = await cpu();
await pause(LAST_ANSWERS_MS);

const { statusSamples, servers } = deps;
const [sampled] = await statusSamples
  .aggregate<{ servers: number; fewest: number; most: number }>([
    { $group: { _id: '$serverId', samples: { $sum: { $cond: [{ $gt: ['$seconds', 0] }, 1, 0] } } } },
    {
      $group: { _id: null, servers: { $sum: 1 }, fewest: { $min: '$samples' }, most: { $max: '$samples' } },
    },
  ])
  .toArray();
const by = await statusSamples
  .aggregate<{ _id: string; samples: number }>([{ $group: { _id: '$status', samples: { $sum: 1 } } }])
  .toArray();
const offline = await servers.countDocuments({ 'probe.status': 'offline' });
console.log(
  `${count} servers, ${rounds} × ${seconds} s, ${workers} workers, ${lost * 100} % of requests lost`,
);
console.log(
  `missed: ${count - (sampled?.servers ?? 0)}, falsely offline: ${offline}, samples: ` +
    `${by.map(({ _id, samples }) => `${samples} ${_id}`).join(', ')}; ` +
    `scheduled checks of a server: ${sampled?.fewest} to ${sampled?.most}`,
);
console.log(`latest probe: ${Math.max(...late).toFixed(1)} s after it was due`);
console.log(used);
console.log(memory.shown());

await environment.close();
far.disconnect();
