/**
 * Measures votes of a server with ten subscriptions to `vote.counted`, three of them dead, two dripping, one answering
 * 429, in turn with those of a server without any. Both have a vote listener over HTTP.
 *
 *   node bench/events/votes-beside.ts [votes a second] [seconds a phase] [rounds]
 *
 *   node bench/events/votes-beside.ts 50 30 5
 *
 * The time of a vote is measured from the moment at which it was due (open loop), to the answer of the API and to its
 * arrival at the vote listener. That of an event: from the answer of the API to the last of the four good destinations.
 * Between two phases it waits until these have all events. Everything shares one machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { against, median, quantile, until, watchCpu } from '../delivery/figures.ts';
import { startWebsite } from './websites.ts';

const [rate = 50, seconds = 30, rounds = 5] = process.argv.slice(2).map(Number);
const GOOD = 4;
const DEAD_URL = 'http://127.0.0.1:1/';

console.log(`node bench/events/votes-beside.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;

/** How many good destinations have its event, and since when all of them. */
type Seen = { arrived?: number; events: number; all?: number };
/** By vote. The listener may have it before the API's answer is read. */
const votes = new Map<string, Seen>();
const eventTimes: number[] = [];

function onMessage(type: string, { vote_id: id = '' }: Record<string, string>): void {
  const vote = seen(id);
  if (type === 'vote.cast') vote.arrived ??= performance.now();
  if (type !== 'vote.counted') return;
  vote.events += 1;
  if (vote.events === GOOD) vote.all = performance.now();
}

function seen(id: string): Seen {
  const vote = votes.get(id) ?? { events: 0 };
  votes.set(id, vote);
  return vote;
}

const sites = {
  good: await Promise.all(Array.from({ length: GOOD }, () => startWebsite('good', onMessage))),
  dripping: await Promise.all([startWebsite('dripping'), startWebsite('dripping')]),
  limited: [await startWebsite('limited')],
};

/** A listed server with a vote listener. */
async function listed(name: string): Promise<Caller> {
  const server = { name, address: `${name}.example.org`, port: 25_565 };
  const serverId = new ObjectId((await addServer(deps, server, 'bench')).serverId);
  const [website] = sites.good;
  await setHttpListener(deps, serverId, { url: website?.url ?? '', serviceName: 'bench' }, 'bench');
  const [caller] = await callersOf(deps, [serverId]);
  if (!caller) throw new Error('no token');
  return caller;
}

const callers = { without: await listed('without'), with: await listed('with') };
const urls = [
  DEAD_URL,
  DEAD_URL,
  DEAD_URL,
  ...Object.values(sites).flatMap((some) => some.map(({ url }) => url)),
];
for (const url of urls) {
  const settings = { type: 'http' as const, name: url, kinds: ['vote.counted' as const], url };
  await addSubscription(deps, callers.with.serverId, settings, 'bench');
}
const web = await environment.web();
const worker = await environment.worker();
await environment.program('workers/scheduler.ts');
const pids = {
  web: [web.pid],
  worker: [worker.pid],
  mongod: [environment.mongodPid],
  redis: [environment.redisPid],
  'this client': [process.pid],
};

type Measured = { answers: number[]; arrivals: number[]; cpu: string };

/** Casts votes at the rate, and waits until the vote listener and the good destinations have them. */
async function phase(side: keyof typeof callers): Promise<Measured> {
  const name = new ObjectId().toHexString().slice(-16);
  const cpu = await watchCpu(pids);
  const began = performance.now();
  const sent: Promise<Cast>[] = [];
  for (let n = 0; n < seconds * rate; n += 1) {
    const due = began + (n * SECOND) / rate;
    await pause(Math.max(0, due - performance.now()));
    sent.push(cast(callers[side], `${name}${n}`, due));
  }
  const own = await Promise.all(sent);
  const used = await cpu();
  const wanted = side === 'with' ? GOOD : 0;
  await until(async () => own.every(({ vote }) => vote.arrived !== undefined && vote.events >= wanted));
  for (const { vote, answered } of own) if (vote.all) eventTimes.push(vote.all - answered);
  return {
    cpu: used,
    answers: own.map(({ due, answered }) => answered - due),
    arrivals: own.map(({ due, vote }) => (vote.arrived ?? Number.NaN) - due),
  };
}

type Cast = { due: number; answered: number; vote: Seen };

async function cast(caller: Caller, username: string, due: number): Promise<Cast> {
  const id = await castVote(web.url, caller, username);
  return { due, answered: performance.now(), vote: seen(id) };
}

const shown = (times: number[]) =>
  `p50 ${median(times).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`;

const figures: Record<keyof typeof callers, Measured[]> = { without: [], with: [] };
try {
  for (let round = 0; round <= rounds; round += 1) {
    // Each time another one begins.
    for (const side of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const measured = await phase(side);
      if (round === 0) continue;
      figures[side].push(measured);
      console.log(
        `${round} ${side}: answers ${shown(measured.answers)}; arrivals ${shown(measured.arrivals)}; ${measured.cpu}`,
      );
    }
  }
  for (const what of ['answers', 'arrivals'] as const) {
    const [without, beside] = [figures.without, figures.with].map((some) => some.flatMap((one) => one[what]));
    const ratio = (figure: (times: number[]) => number) => figure(beside ?? []) / figure(without ?? []);
    const [middle, late] = [ratio(median), ratio((times) => quantile(times, 0.99))];
    console.log(
      `${what}, with ÷ without: p50 ${middle.toFixed(2)} ${against('≤ 1.05', middle <= 1.05)}, p99 ${late.toFixed(2)} ${against('≤ 1.5', late <= 1.5)}`,
    );
  }
  const last = Math.max(...eventTimes) / SECOND;
  console.log(
    `events at the last good destination after ${(median(eventTimes) / SECOND).toFixed(1)} s in the middle, ${last.toFixed(1)} s at most ${against('≤ 60 s', last <= 60)}`,
  );
} finally {
  await environment.close();
  for (const site of Object.values(sites).flat()) site.close();
}
