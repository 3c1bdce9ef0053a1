/**
 * Measures votes at a steady rate (open loop), their deliveries, and the data that they leave in MongoDB:
 *
 *   node bench/delivery/steady-rate.ts [votes a second] [minutes] [servers]
 *
 * One web process, one worker, one scheduler, mongod, Redis and the listeners share the machine. Each server has a
 * listener that answers. Prints how long callers waited, how late votes were acknowledged, the CPU time and memory of
 * each process, the commands of MongoDB and Redis, and the sizes of the collections. With 0 votes a second it shows what
 * an idle system costs.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { callersOf, castVote } from './api-client.ts';
import { openEnvironment } from './environment.ts';
import { quantile, until, watchCommands, watchCpu, watchMemory } from './figures.ts';

const [perSecond = 1_000, minutes = 10, servers = 1_000] = process.argv.slice(2).map(Number);
const TOKEN = 'a-token-of-this-bench';
const LISTENERS = 100;
/** At most this many calls wait for an answer. More would only wait in the client. */
const MOST_OPEN = 5_000;

const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: Math.min(LISTENERS, servers) } });
const environment = await openEnvironment();
const { deps } = environment;
const ports = Array.from({ length: servers }, (_, i) => fakes.ports[i % fakes.ports.length] as number);
const callers = await callersOf(deps, await listServersAt(deps, ports, TOKEN));
const worker = await environment.worker();
const scheduler = await environment.program('workers/scheduler.ts');
const web = await environment.web();
const pids = {
  web: [web.pid],
  worker: [worker.pid],
  scheduler: [scheduler.pid],
  mongod: [environment.mongodPid],
  redis: [environment.redisPid],
  listeners: [fakes.pid],
  'this client': [process.pid],
};

const times: number[] = [];
const counts = { failed: 0, skipped: 0 };
const memory = watchMemory(pids);
let open = 0;

async function cast(n: number, due: number): Promise<void> {
  const caller = callers[n % callers.length];
  if (!caller) return;
  open += 1;
  try {
    await castVote(web.url, caller, `Player${n}`);
    times.push(performance.now() - due);
  } catch {
    counts.failed += 1;
  } finally {
    open -= 1;
  }
}

const openVotes = () => deps.votes.countDocuments({ 'delivery.queuedAt': { $exists: true } });

// Each listener gets a first vote before the measurement: new listeners are tested one by one, about 30 a second, which
// is not what is measured.
for (const [n, caller] of callers.entries()) await castVote(web.url, caller, `First${n}`);
await until(async () => (await openVotes()) === 0);

console.log(`${perSecond} votes a second for ${minutes} minutes, ${servers} servers …`);
const [cpu, commands] = await Promise.all([watchCpu(pids), watchCommands(deps)]);
const began = performance.now();
const total = perSecond * minutes * 60;
let measuredAt = began;
for (let n = 0; n < total; n += 1) {
  const due = began + (n * SECOND) / perSecond;
  const early = due - performance.now();
  if (early > 0) await pause(early);
  if (open < MOST_OPEN) void cast(n, due);
  else counts.skipped += 1;
  if (performance.now() - measuredAt < MINUTE / 2) continue;
  measuredAt = performance.now();
  await memory.measure();
  const seconds = (measuredAt - began) / SECOND;
  console.log(
    `  ${seconds.toFixed(0)} s: ${times.length} accepted, ${open} without an answer yet, ${await openVotes()} not delivered yet`,
  );
}
if (total === 0) await pause(minutes * MINUTE);
await until(async () => open === 0);
const tookSeconds = (performance.now() - began) / SECOND;
console.log(await cpu());
console.log(await commands(times.length || 1));
const drainFrom = performance.now();
const left = await openVotes();
await until(async () => (await openVotes()) === 0, SECOND);
const drained = (performance.now() - drainFrom) / SECOND;

const late = await lateness(deps);
console.log(
  `${times.length} accepted in ${tookSeconds.toFixed(0)} s (${(times.length / tookSeconds).toFixed(0)} a second), ` +
    `${counts.failed} failed, ${counts.skipped} not sent; p50 ${quantile(times, 0.5).toFixed(0)} ms, ` +
    `p99 ${quantile(times, 0.99).toFixed(0)} ms, longest ${quantile(times, 1).toFixed(0)} ms`,
);
console.log(
  `acknowledged after p50 ${(late.p50 / SECOND).toFixed(2)} s, p99 ${(late.p99 / SECOND).toFixed(2)} s, longest ` +
    `${(late.longest / SECOND).toFixed(1)} s; ${left} were open at the end, delivered ${drained.toFixed(0)} s later`,
);
console.log(memory.shown());
await sizes(deps);
await environment.close();
await fakes.close();

/** The time from a vote to its acknowledgement, in milliseconds. */
async function lateness({ votes }: AppDeps): Promise<Record<'p50' | 'p99' | 'longest', number>> {
  const delivered = votes
    .find({ 'delivery.state': 'delivered', username: /^Player/ })
    .project<{ ms: number }>({ _id: 0, ms: { $subtract: ['$delivery.deliveredAt', '$votedAt'] } });
  const all: number[] = [];
  for await (const { ms } of delivered) all.push(ms);
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), longest: quantile(all, 1) };
}

/** The sizes on disk of the collections that votes fill, data and indexes. */
async function sizes({ mongo, votes }: AppDeps): Promise<void> {
  // Without a checkpoint, the sizes of the files are not up to date.
  await mongo.db.admin().command({ fsync: 1 });
  const count = await votes.estimatedDocumentCount();
  for (const { name } of await mongo.db.listCollections({ type: 'collection' }).toArray()) {
    const stats = await mongo.db.command({ collStats: name });
    // A time series has no count, so it is skipped.
    if (!(stats.count >= servers)) continue;
    const each = (bytes: number) => `${(bytes / count).toFixed(0)} bytes a vote`;
    console.log(
      `${name}: ${stats.count} documents of ${stats.avgObjSize} bytes; on disk ${each(stats.storageSize)}, ` +
        `indexes ${each(stats.totalIndexSize)}`,
    );
    if (name === votes.collectionName)
      for (const [index, bytes] of Object.entries<number>(stats.indexSizes))
        console.log(`  ${index}: ${each(bytes)}`);
  }
}
