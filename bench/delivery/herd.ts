/**
 * Measures healthy listeners next to ten thousand listeners that accept connections and never answer (every tenth sends
 * one byte per second). All have waiting votes and share one worker with production settings. It prints how long a
 * healthy listener's votes take, how many connections are open at once, and how much more memory the worker needs:
 *
 *   node bench/delivery/herd.ts [silent listeners] [votes waiting for each] [seconds]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { insertWaitingVotes } from '../../test/support/votes.ts';
import { callersOf, castVote } from './api-client.ts';
import { openEnvironment, residentMb } from './environment.ts';
import { against, median, quantile, until, watchCpu } from './figures.ts';

const [silent = 10_000, each = 4, seconds = 60] = process.argv.slice(2).map(Number);
const HEALTHY = 10;
const TOKEN = 'a-token-of-this-bench';
const PORTS = 20;
const EVERY_MS = 200;

const fakes = await startFakeListeners({
  token: TOKEN,
  listeners: { count: HEALTHY },
  silent: { ports: PORTS, dripEvery: 10 },
});
const environment = await openEnvironment();
const { deps } = environment;
const web = await environment.web();
const worker = await environment.worker();
const healthy = await listServersAt(deps, fakes.ports, TOKEN);
const callers = await callersOf(deps, healthy);
const mostOpen = deps.config.TEST_CONCURRENCY;

const ofHealthy = { serverId: { $in: healthy } };
const notDelivered = () =>
  deps.votes.countDocuments({ ...ofHealthy, 'delivery.state': { $ne: 'delivered' } });

/** Casts a vote at a fixed interval, whether or not the earlier ones have arrived. */
async function cast(name: string, forMs: number): Promise<void> {
  const began = performance.now();
  for (let n = 0; performance.now() - began < forMs; n += 1) {
    const caller = callers[n % callers.length];
    if (caller) await castVote(web.url, caller, `${name}-${n}`);
    await pause(EVERY_MS);
  }
}

async function arrivals(since: Date): Promise<number[]> {
  const votes = await deps.votes.find({ ...ofHealthy, votedAt: { $gte: since } }).toArray();
  return votes.map(({ votedAt, delivery }) => Number(delivery.deliveredAt ?? new Date()) - votedAt.getTime());
}

const shown = (times: number[]) =>
  `${times.length} votes, median ${median(times)} ms, p99 ${quantile(times, 0.99)} ms, longest ${Math.max(...times)} ms`;

console.log(`node bench/delivery/herd.ts ${silent} ${each} ${seconds}`);
await cast('first', 5_000);
await until(async () => (await notDelivered()) === 0);
const idleSince = new Date();
await cast('idle', 20_000);
await until(async () => (await notDelivered()) === 0);
console.log(`idle: ${shown(await arrivals(idleSince))}`);
const before = await residentMb(worker.pid);

const herd = await listServersAt(
  deps,
  Array.from({ length: silent }, (_, i) => fakes.silentPorts[i % PORTS] ?? 0),
  TOKEN,
);
await insertWaitingVotes(deps, herd, each);
const beside = new Date();
const cpu = await watchCpu({ web: [web.pid], worker: [worker.pid], mongod: [environment.mongodPid] });
await cast('beside', seconds * 1_000);
const left = await notDelivered();
const used = await cpu();
const tried = await deps.listeners.countDocuments({
  serverId: { $in: herd },
  'breaker.failures': { $gt: 0 },
});
console.log(`beside ${silent} silent listeners: ${shown(await arrivals(beside))}; ${used}`);
console.log(`${left} healthy votes not delivered yet, ${tried} silent listeners tried`);
const { peak } = (await fakes.report()).silent;
console.log(`connections to silent listeners at once: ${peak} ${against(`≤ ${mostOpen}`, peak <= mostOpen)}`);
const gained = (await residentMb(worker.pid)) - before;
console.log(`worker's memory: ${before.toFixed(0)} MB before, ${gained.toFixed(0)} MB more`);

await environment.close();
await fakes.close();
