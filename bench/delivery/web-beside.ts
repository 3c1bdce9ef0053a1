/**
 * Measures the effect of a draining backlog on the web process: the p99 of its response times at a fixed rate (open
 * loop), while the worker is idle and while a backlog drains:
 *
 *   node bench/delivery/web-beside.ts [requests a second] [seconds] [votes waiting] [listeners that return] [rounds]
 *
 * Half of the requests cast votes for a server whose listener answers; the others call check-vote. The time of a
 * request is measured from the moment at which it was due, so a stall of this process or of the web process is visible
 * in each delayed request. A short stall of the disk can decide one p99, so the result is the median over the rounds.
 * All processes share one machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { wakeListener } from '../../src/listeners/delivery-queues.ts';
import { REACHABLE } from '../../src/listeners/listener.ts';
import { after, HOUR } from '../../src/platform/clock.ts';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { insertWaitingVotes } from '../../test/support/votes.ts';
import { callersOf, castVote, checkVote } from './api-client.ts';
import { openEnvironment } from './environment.ts';
import { against, median, quantile, watchCpu } from './figures.ts';

const [perSecond = 100, seconds = 20, waiting = 50_000, returning = 10, rounds = 5] = process.argv
  .slice(2)
  .map(Number);
const AIM = 1.2;
const TOKEN = 'a-token-of-this-bench';
/** The breaker state of a listener that is down. */
const AWAY = { failures: 3, tests: 0, openSince: new Date(), code: 'connection-refused' } as const;
const HEALTHY = 5;

const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: HEALTHY + returning } });
const environment = await openEnvironment();
const { deps } = environment;
const web = await environment.web();
const worker = await environment.worker();
const callers = await callersOf(deps, await listServersAt(deps, fakes.ports.slice(0, HEALTHY), TOKEN));

type Times = { vote: number[]; check: number[] };

/** Sends requests at the fixed rate while `going` returns true; returns the response times in milliseconds. */
async function load(name: string, going: (elapsedMs: number) => boolean): Promise<Times> {
  const times: Times = { vote: [], check: [] };
  const sent: Promise<unknown>[] = [];
  const began = performance.now();
  for (let n = 0; going(performance.now() - began); n += 1) {
    const due = began + (n * 1_000) / perSecond;
    await pause(Math.max(0, due - performance.now()));
    const caller = callers[n % callers.length];
    if (!caller) break;
    const kind = n % 2 ? 'check' : 'vote';
    const ask = kind === 'vote' ? castVote : checkVote;
    sent.push(
      ask(web.url, caller, `${name}-${n}`).then(() => {
        return times[kind].push(performance.now() - due);
      }),
    );
  }
  await Promise.all(sent);
  return times;
}

const openWork = () => deps.votes.countDocuments({ 'delivery.queuedAt': { $exists: true } });

async function measured(name: string, going: (elapsedMs: number) => boolean): Promise<Times> {
  const cpu = await watchCpu({
    web: [web.pid],
    worker: [worker.pid],
    mongod: [environment.mongodPid],
    listeners: [fakes.pid],
    asking: [process.pid],
  });
  const times = await load(name, going);
  const shown = Object.entries(times).map(
    ([kind, ms]) => `${kind} median ${median(ms).toFixed(1)} ms, p99 ${quantile(ms, 0.99).toFixed(1)} ms`,
  );
  console.log(
    `${name}: ${shown.join('; ')}; ${times.vote.length + times.check.length} answers; ${await cpu()}`,
  );
  return times;
}

console.log(`node bench/delivery/web-beside.ts ${perSecond} ${seconds} ${waiting} ${returning} ${rounds}`);
console.log(
  `${perSecond} requests a second, half of them votes; ${waiting} votes wait for ${returning} listeners`,
);
const forSeconds = (elapsedMs: number) => elapsedMs < seconds * 1_000;
const ratios: Record<keyof Times, number[]> = { vote: [], check: [] };
for (let round = 1; round <= rounds; round += 1) {
  // The votes are inserted before both phases, so the MongoDB work after their insertion does not count as work of the
  // drain.
  const returned = await listServersAt(deps, fakes.ports.slice(HEALTHY), TOKEN, new Date());
  const theirs = { serverId: { $in: returned } };
  const later = after(new Date(), HOUR);
  await deps.listeners.updateMany(theirs, { $set: { breaker: { ...AWAY, nextTestAt: later } } });
  await insertWaitingVotes(deps, returned, waiting / returning);
  await load(`warm-up ${round}`, (elapsedMs) => elapsedMs < 10_000);
  const idle = await measured(`round ${round}, idle`, forSeconds);

  await deps.listeners.updateMany(theirs, { $set: { breaker: REACHABLE } });
  for (const listener of await deps.listeners.find(theirs).toArray())
    await wakeListener(deps.producer, listener, { hasten: true });
  const before = await openWork();
  const began = performance.now();
  const draining = await measured(`round ${round}, draining`, forSeconds);
  const left = await openWork();
  const rate = ((before - left) / (performance.now() - began)) * 1_000;
  console.log(
    `  drained meanwhile: ${before - left} votes, ${rate.toFixed(0)}/s; ${left} still waited at the end`,
  );
  for (const kind of ['vote', 'check'] as const) {
    const ratio = quantile(draining[kind], 0.99) / quantile(idle[kind], 0.99);
    ratios[kind].push(ratio);
    console.log(`  ${kind}: p99 draining ÷ idle ${ratio.toFixed(2)}`);
  }
  // Deletes the votes, so that the next round starts idle.
  await deps.votes.deleteMany({ 'delivery.queuedAt': { $exists: true } });
}
for (const kind of ['vote', 'check'] as const) {
  const ratio = median(ratios[kind]);
  console.log(`${kind}: median of ${rounds} ratios ${ratio.toFixed(2)} ${against(`< ${AIM}`, ratio < AIM)}`);
}

await environment.close();
await fakes.close();
