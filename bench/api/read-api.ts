/**
 * Compares the processor time of reading a list and a server without a token with that of `info`, in turn in one web
 * process.
 *
 *   node bench/api/read-api.ts [seconds] [rounds] [servers] [connections]
 *
 *   node bench/api/read-api.ts 3 5 10000 50
 *
 * A list has 20 servers and is read in five orders. The servers are all read evenly, so with 10,000 of them hardly an
 * answer is cached. The calls come from many networks, of which none uses up its limit.
 */
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { against, median } from '../delivery/figures.ts';
import { type Measured, openArena } from './arena.ts';
import { listCallers } from './listing.ts';

const [seconds = 3, rounds = 5, servers = 10_000, connections = 50] = process.argv.slice(2, 6).map(Number);
const AIM = 1.5;
const ENDPOINTS = ['info', 'list', 'server'] as const;
type Side = (typeof ENDPOINTS)[number];

console.log(`node bench/api/read-api.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const callers = await listCallers(deps, servers);
await recomputeRanks(deps);
const arena = openArena(environment);
const web = await environment.web();

const measured: Record<Side, Measured[]> = { info: [], list: [], server: [] };
for (let round = 0; round <= rounds; round += 1) {
  for (const endpoint of ENDPOINTS) {
    const one = await arena.play(web, {
      endpoint,
      connections,
      seconds,
      answers: Number.POSITIVE_INFINITY,
      callers,
    });
    // The first round warms up.
    if (round > 0) measured[endpoint].push(one);
  }
}

const of = (side: Side, figure: (one: Measured) => number) => median(measured[side].map(figure));
const cost = ({ cpu }: Measured) => cpu.web + cpu.mongod + cpu.redis;
for (const side of ENDPOINTS) {
  const failed = Math.max(...measured[side].map((one) => one.failed));
  const parts = `web ${of(side, ({ cpu }) => cpu.web).toFixed(0)}, mongod ${of(side, ({ cpu }) => cpu.mongod).toFixed(0)}`;
  console.log(
    `${side}: ${of(side, (one) => one.perSecond).toFixed(0)}/s, p50 ${of(side, (one) => one.p50).toFixed(1)} ms, CPU an answer: ${parts} µs${failed ? `, ${failed} FAILED` : ''}`,
  );
}
for (const side of ['list', 'server'] as const) {
  const ratios = measured[side].map((one, i) => cost(one) / cost(measured.info[i] as Measured));
  const ratio = median(ratios);
  console.log(`${side}: ${ratio.toFixed(2)} times the CPU of info ${against(`≤ ${AIM}`, ratio <= AIM)}`);
}
arena.close();
await environment.close();
