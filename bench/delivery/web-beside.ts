/**
 * What draining does to the web process beside it: its answers' p99, asked at a fixed rate whether earlier answers
 * have come or not, while the worker is idle and while a backlog drains:
 *
 *   node bench/delivery/web-beside.ts [requests a second] [seconds] [votes waiting] [listeners that return] [rounds]
 *
 * Half of the requests cast votes for a server whose listener answers, the others ask check-vote. Every time counts
 * from the moment when the request was due, so a stall of this process or of the web shows in each request it
 * delayed. A disk that stalls for a moment decides one p99, so the rounds' ratios are what counts, by their median. All
 * processes share one machine's processors.
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
/** How a listener stands that is away. */
const AWAY = { failures: 3, tests: 0, openSince: new Date(), code: 'connection-refused' } as const;
const HEALTHY = 5;

const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: HEALTHY + returning } });
const environment = await openEnvironment();
const { platform } = environment;
const web = await environment.web();
const worker = await environment.worker();
const callers = await callersOf(
  platform,
  await listServersAt(platform, fakes.ports.slice(0, HEALTHY), TOKEN),
);

type Times = { vote: number[]; check: number[] };

/** Asks at the fixed rate for as long as `going` says; gives the milliseconds of every answer. */
async function load(name: string, going: (elapsedMs: number) => boolean): Promise<Times> {
  const times: Times = { vote: [], check: [] };
  const asked: Promise<unknown>[] = [];
  const began = performance.now();
  for (let n = 0; going(performance.now() - began); n += 1) {
    const due = began + (n * 1_000) / perSecond;
    await pause(Math.max(0, due - performance.now()));
    const caller = callers[n % callers.length];
    if (!caller) break;
    const kind = n % 2 ? 'check' : 'vote';
    const ask = kind === 'vote' ? castVote : checkVote;
    asked.push(
      ask(web.url, caller, `${name}-${n}`).then(() => {
        return times[kind].push(performance.now() - due);
      }),
    );
  }
  await Promise.all(asked);
  return times;
}

const openWork = () => platform.votes.countDocuments({ 'delivery.queuedAt': { $exists: true } });

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
  // The votes are there in both halves: what their insertion leaves MongoDB to do is not the drain's.
  const returned = await listServersAt(platform, fakes.ports.slice(HEALTHY), TOKEN, new Date());
  const theirs = { serverId: { $in: returned } };
  const later = after(new Date(), HOUR);
  await platform.listeners.updateMany(theirs, { $set: { breaker: { ...AWAY, nextTestAt: later } } });
  await insertWaitingVotes(platform, returned, waiting / returning);
  await load(`warm-up ${round}`, (elapsedMs) => elapsedMs < 10_000);
  const idle = await measured(`round ${round}, idle`, forSeconds);

  await platform.listeners.updateMany(theirs, { $set: { breaker: REACHABLE } });
  for (const listener of await platform.listeners.find(theirs).toArray())
    await wakeListener(platform.producer, listener, { hasten: true });
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
  // The next round begins idle.
  await platform.votes.deleteMany({ 'delivery.queuedAt': { $exists: true } });
}
for (const kind of ['vote', 'check'] as const) {
  const ratio = median(ratios[kind]);
  console.log(`${kind}: median of ${rounds} ratios ${ratio.toFixed(2)} ${against(`< ${AIM}`, ratio < AIM)}`);
}

await environment.close();
await fakes.close();
