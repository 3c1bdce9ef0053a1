/**
 * Measures votes of the API while other connections fetch uncached pages as fast as they can, and the rate of the
 * pages:
 *
 *   node bench/listing/votes-beside.ts [servers] [connections] [seconds a phase] [rounds] [checkouts…]
 *
 * There are so many different pages that none comes from the cache. A checkout is the folder of another version of this
 * repository: its web process is measured in turn with this one, on the same database. The time of a vote is measured
 * from the moment at which it was due (open loop). Web, load and mongod share one machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, type Program } from '../delivery/environment.ts';
import { median, quantile } from '../delivery/figures.ts';
import type { Answered, Load } from './load.ts';
import { loadServers } from './load-servers.ts';

const [numbers, checkouts] = [process.argv.slice(2, 6).map(Number), process.argv.slice(6)];
const [servers = 1_000, connections = 16, seconds = 15, rounds = 3] = numbers;
const VOTES_A_SECOND = 20;
const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

console.log(`node bench/listing/votes-beside.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment({ TRUST_PROXY: '1', MAX_EVENT_LOOP_DELAY_MS: '0' });
const { deps } = environment;
await loadServers(deps, servers);
const some = await deps.servers
  .find({}, { projection: { slug: 1 } })
  .limit(200)
  .toArray();
const callers = await callersOf(deps, some.map(({ _id }) => _id).slice(0, 20));
// A page of a server with another range of days is another page for the cache.
const paths = some.flatMap(({ slug }) =>
  ['7d', '30d', '90d'].map((days) => `/servers/${slug}?players=${days}`),
);

const webs: [name: string, web: Program][] = [];
for (const folder of ['.', ...checkouts]) {
  const path = relative(REPOSITORY, resolve(folder, 'src/web.ts'));
  webs.push([folder, await (folder === '.' ? environment.web() : environment.program(path))]);
}
const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)));

let failedVotes = 0;

/** Casts votes at a fixed rate; returns their times in milliseconds. */
async function vote(url: string): Promise<number[]> {
  const times: number[] = [];
  const sent: Promise<unknown>[] = [];
  const began = performance.now();
  const name = new ObjectId().toHexString();
  for (let n = 0; n < seconds * VOTES_A_SECOND; n += 1) {
    const due = began + (n * 1_000) / VOTES_A_SECOND;
    await pause(Math.max(0, due - performance.now()));
    const caller = callers[n % callers.length];
    if (!caller) break;
    sent.push(castInTime(url, caller, `${name.slice(-20)}-${n}`, due, times));
  }
  await Promise.all(sent);
  return times;
}

/** Casts one vote. Records how long after `due` the answer came, or that the vote failed. */
async function castInTime(
  url: string,
  caller: Parameters<typeof castVote>[1],
  username: string,
  due: number,
  times: number[],
): Promise<void> {
  try {
    await castVote(url, caller, username);
    times.push(performance.now() - due);
  } catch {
    failedVotes += 1;
  }
}

async function fetchPages(url: string, during: number): Promise<Answered> {
  const answer = once(load, 'message');
  load.send({ url, paths, seconds: during, connections } satisfies Load);
  return (await answer)[0] as Answered;
}

type Figures = { idle: number[]; beside: number[]; pages: number[]; refused: number };
const figures = new Map<string, Figures>(
  webs.map(([name]) => [name, { idle: [], beside: [], pages: [], refused: 0 }]),
);
try {
  for (const [, web] of webs) await fetchPages(web.url, 5);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, web] of webs) {
      const of = figures.get(name);
      of?.idle.push(...(await vote(web.url)));
      const [times, pages] = await Promise.all([vote(web.url), fetchPages(web.url, seconds)]);
      of?.beside.push(...times);
      of?.pages.push(pages.perSecond);
      if (of) of.refused += pages.failed;
    }
  }
  console.log(`${failedVotes} votes failed`);
  for (const [name, { idle, beside, pages, refused }] of figures) {
    const shown = (times: number[]) =>
      `p50 ${median(times).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
    console.log(
      `${name}: votes idle ${shown(idle)}; beside ${connections} connections ${shown(beside)}; ${median(pages).toFixed(0)} pages a second, ${refused} refused`,
    );
  }
} finally {
  load.kill();
  await environment.close();
}
