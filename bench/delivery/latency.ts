/**
 * The time from a vote's request to the listener's acknowledgement, on one web process and one worker, one vote at a
 * time: on an idle platform, and then with dead listeners whose votes wait:
 *
 *   node bench/delivery/latency.ts [votes] [dead listeners] [votes waiting for them]
 *
 * A quarter of the dead listeners accept a connection and are silent, the others refuse it. The measurement starts when
 * their votes begin to wait, so it includes the time of their first attempts and tests.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { UUID } from 'mongodb';
import { freePort } from '../../src/own-services/free-port.ts';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { insertWaitingVotes } from '../../test/support/votes.ts';
import { callersOf, castVote } from './api-client.ts';
import { openEnvironment } from './environment.ts';
import { against, median, quantile, until, watchCpu } from './figures.ts';

const [votes = 1_000, dead = 200, waiting = 50_000] = process.argv.slice(2).map(Number);
const AIMS = { median: 20, p99: 100, ratio: 1.3 };
const HEALTHY = 20;
const TOKEN = 'a-token-of-this-bench';
/**
 * The maximum of the random pause between an acknowledgement and the next vote. It lets the platform become idle before
 * each vote.
 */
const LONGEST_PAUSE_MS = 50;

const fakes = await startFakeListeners({
  token: TOKEN,
  listeners: { count: HEALTHY, report: true },
  silent: { ports: Math.ceil(dead / 4) },
});
const environment = await openEnvironment();
const { deps } = environment;
const web = await environment.web();
const worker = await environment.worker();
const callers = await callersOf(deps, await listServersAt(deps, fakes.ports, TOKEN));

const arrived = new Map<string, () => void>();
const early = new Set<string>();
fakes.onVote((voteId) => {
  early.add(voteId);
  arrived.get(voteId)?.();
});

async function arrival(voteId: string): Promise<void> {
  if (!early.has(voteId)) await new Promise<void>((resolve) => arrived.set(voteId, resolve));
  arrived.delete(voteId);
  early.delete(voteId);
}

/** Casts votes one at a time; returns the milliseconds from each vote to its acknowledgement. */
async function latencies(name: string, count: number): Promise<number[]> {
  const ids: UUID[] = [];
  for (let n = 0; n < count; n += 1) {
    const caller = callers[n % callers.length];
    if (!caller) break;
    const voteId = await castVote(web.url, caller, `${name}-${n}`);
    ids.push(new UUID(voteId));
    await arrival(voteId);
    await pause(Math.random() * LONGEST_PAUSE_MS);
  }
  const cast = { _id: { $in: ids } };
  await until(
    async () => (await deps.votes.countDocuments({ ...cast, 'delivery.state': 'delivered' })) === count,
  );
  const delivered = await deps.votes.find(cast).toArray();
  return delivered.map(({ votedAt, delivery }) => Number(delivery.deliveredAt) - votedAt.getTime());
}

async function measured(name: string): Promise<{ median: number; p99: number }> {
  const cpu = await watchCpu({ web: [web.pid], worker: [worker.pid], mongod: [environment.mongodPid] });
  const times = await latencies(name, votes);
  const figures = { median: median(times), p99: quantile(times, 0.99) };
  const shown = `median ${figures.median} ms, p99 ${figures.p99} ms, longest ${Math.max(...times)} ms`;
  console.log(`${name}: ${shown}; ${await cpu()}`);
  return figures;
}

console.log(`node bench/delivery/latency.ts ${votes} ${dead} ${waiting}`);
console.log(
  `${votes} votes one at a time for ${HEALTHY} healthy listeners, from the vote's time to its acknowledgement`,
);
await latencies('warm-up', 100);
const idle = await measured('idle');
console.log(against(`median < ${AIMS.median} ms`, idle.median < AIMS.median));
console.log(against(`p99 < ${AIMS.p99} ms`, idle.p99 < AIMS.p99));

const refusing = await Promise.all(Array.from({ length: dead - fakes.silentPorts.length }, () => freePort()));
const deadServers = await listServersAt(deps, [...refusing, ...fakes.silentPorts], TOKEN);
await insertWaitingVotes(deps, deadServers, Math.ceil(waiting / dead));
console.log(
  `${waiting} votes wait for ${dead} dead listeners, ${fakes.silentPorts.length} of which say nothing`,
);
const beside = await measured('beside');
const attempts = await deps.votes.countDocuments({
  serverId: { $in: deadServers },
  'delivery.attempts.0': { $exists: true },
});
const ratio = beside.p99 / idle.p99;
console.log(
  `p99 beside dead listeners ÷ idle: ${ratio.toFixed(2)} ${against(`≤ ${AIMS.ratio}`, ratio <= AIMS.ratio)}; ${attempts} votes of dead listeners were tried meanwhile`,
);

await environment.close();
await fakes.close();
