/**
 * Compares the rate of queries with a bare gamedig loop with the same responders, protocols, concurrency and work, in
 * turn: `node bench/probing/asking.ts [queries a round] [concurrency] [rounds]`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { GameDig } from 'gamedig';
import ipaddr from 'ipaddr.js';
import { gameOf } from '../../src/games/games.ts';
import { createAsk } from '../../src/probing/ask-server.ts';

type Place = { game: string; port: number };
type Way = (place: Place) => Promise<boolean>;

const [queries = 2_000, concurrency = 64, rounds = 5] = process.argv.slice(2).map(Number);

const ask = createAsk({ ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8')], REFUSED_RANGES: [] });
const gamedig = new GameDig();

const WAYS: Record<string, Way> = {
  ours: async ({ game, port }) => (await ask({ game, host: '127.0.0.1', port, queryPort: null })).ok,
  gamedig: async ({ game, port }) => {
    const type = `protocol-${gameOf(game).protocol}`;
    const where = { host: '127.0.0.1', address: '127.0.0.1', port, givenPortOnly: true };
    return (await gamedig.query({ type, ...where, requestPlayers: false }).catch(() => null)) !== null;
  },
};

/**
 * Queries per second, this process's CPU time per query in microseconds, and the number of queries without an answer.
 */
type Result = { rate: number; cpuUs: number; failed: number };

async function round(way: Way, places: Place[]): Promise<Result> {
  let next = 0;
  let failed = 0;
  const began = performance.now();
  const spent = process.cpuUsage();
  const worker = async () => {
    while (next < queries) {
      const place = places[next % places.length];
      next += 1;
      if (place && !(await way(place))) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(spent);
  const rate = (queries / (performance.now() - began)) * 1_000;
  return { rate, cpuUs: (user + system) / queries, failed };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function compare(name: string, places: Place[]): Promise<void> {
  const results: Record<string, Result[]> = { ours: [], gamedig: [] };
  for (let turn = 0; turn <= rounds; turn += 1) {
    for (const [way, one] of Object.entries(WAYS)) {
      const result = await round(one, places);
      // The first turn warms up.
      if (turn > 0) results[way]?.push(result);
    }
  }
  const figure = (way: string, of: (result: Result) => number) => median((results[way] ?? []).map(of));
  const [ours, theirs] = ['ours', 'gamedig'].map((way) => figure(way, ({ rate }) => rate)) as [
    number,
    number,
  ];
  const failed = Object.values(results)
    .flat()
    .reduce((sum, result) => sum + result.failed, 0);
  const cells = [
    ours.toFixed(0),
    theirs.toFixed(0),
    (ours / theirs).toFixed(2),
    figure('ours', ({ cpuUs }) => cpuUs).toFixed(0),
    figure('gamedig', ({ cpuUs }) => cpuUs).toFixed(0),
    String(failed),
  ];
  console.log(name.padEnd(14), ...cells.map((cell) => cell.padStart(10)));
}

/** The addresses of the games, mixed: one of each game in turn. */
function mixed(places: Place[]): Place[] {
  const kinds = Object.values(Object.groupBy(places, ({ game }) => game)).map((alike) => alike ?? []);
  return (kinds[0] ?? []).flatMap((_, index) => kinds.flatMap((alike) => alike[index] ?? []));
}

const far = fork(new URL('responders.ts', import.meta.url));
const [places] = (await once(far, 'message')) as [Place[]];
console.log(`${queries} queries a round, ${concurrency} at once, median of ${rounds} rounds`);
const head = ['ours/s', 'gamedig/s', 'ratio', 'ours µs', 'gamedig µs', 'unanswered'];
console.log(' '.repeat(14), ...head.map((cell) => cell.padStart(10)));
for (const [game, alike = []] of Object.entries(Object.groupBy(places, ({ game }) => game))) {
  await compare(game, alike);
}
await compare('mixed', mixed(places));
far.disconnect();
// An open socket of gamedig would keep the process alive.
process.exit();
