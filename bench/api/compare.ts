/**
 * The API beside a bare peer (peer.ts), in turns on one mongod and Redis, one web process each:
 *
 *   node bench/api/compare.ts [seconds] [pairs] [servers] [past votes] [connections] [endpoints]
 *
 *   node bench/api/compare.ts 3 5 10000 10000 1,10,50,200 vote,check-vote,info,reviews,status
 *
 * Every round asks one endpoint for some seconds, over all servers evenly or of one alone. A server reports its status
 * once in five minutes, so a round of reports ends with the last server. No worker runs: calls for it pile up in Redis,
 * on both sides. Votes are of new players each, and so are the questions whether they voted.
 */
import { UUID } from 'mongodb';
import { after, MINUTE } from '../../src/clock.ts';
import { against, median } from '../delivery/figures.ts';
import { openHouse, type Program } from '../delivery/house.ts';
import { type Measured, openArena } from './arena.ts';
import { addVotes, listCallers } from './listing.ts';
import type { Endpoint } from './load.ts';

const [seconds = 3, pairs = 5, servers = 10_000, past = 10_000] = process.argv.slice(2, 6).map(Number);
const connections = (process.argv[6] ?? '1,10,50,200').split(',').map(Number);
const endpoints = (process.argv[7] ?? 'vote,check-vote,info,reviews,status').split(',') as Endpoint[];

const AIMS: Record<Endpoint, number> = { vote: 3, 'check-vote': 4, info: 5, reviews: 2, status: 2 };
const AIM_AT = 50;
const AIM_ALONE = 0.85;

console.log(`node bench/api/compare.ts ${process.argv.slice(2).join(' ')}`);
const house = await openHouse();
const { platform } = house;
const callers = await listCallers(platform, servers);
await addVotes(platform, callers, past);
const arena = openArena(house);
const sides = { ours: await house.web(), peer: await house.program('bench/api/peer.ts') };

async function play(web: Program, endpoint: Endpoint, hot: boolean, connections: number): Promise<Measured> {
  if (endpoint === 'status') {
    // Servers that report as they should.
    const lastReport = { id: new UUID(), at: after(new Date(), -6 * MINUTE) };
    await platform.servers.updateMany({}, { $set: { lastReport } });
  }
  if (endpoint === 'vote') await platform.queues['forward-votes'].obliterate({ force: true });
  const asked = hot ? callers.slice(0, 1) : callers;
  const answers = endpoint === 'status' ? servers : Number.POSITIVE_INFINITY;
  return arena.play(web, { endpoint, connections, seconds, answers, callers: asked });
}

const shown = ({ perSecond, p50, p99, cpu, failed }: Measured) =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU an answer: web ${cpu.web.toFixed(0)}, mongod ${cpu.mongod.toFixed(0)}, redis ${cpu.redis.toFixed(0)} µs${failed ? `, ${failed} FAILED` : ''}`;

function middle(rounds: Measured[]): Measured {
  const of = (figure: (round: Measured) => number) => median(rounds.map(figure));
  return {
    answers: of((round) => round.answers),
    failed: Math.max(...rounds.map(({ failed }) => failed)),
    perSecond: of((round) => round.perSecond),
    p50: of((round) => round.p50),
    p99: of((round) => round.p99),
    cpu: {
      web: of(({ cpu }) => cpu.web),
      mongod: of(({ cpu }) => cpu.mongod),
      redis: of(({ cpu }) => cpu.redis),
    },
  };
}

/** A first round of each, not counted, then pairs in turns. */
async function compare(endpoint: Endpoint, hot: boolean, connections: number): Promise<void> {
  const rounds: { ours: Measured[]; peer: Measured[] } = { ours: [], peer: [] };
  for (let n = 0; n <= pairs; n += 1) {
    for (const side of n % 2 ? (['peer', 'ours'] as const) : (['ours', 'peer'] as const)) {
      const round = await play(sides[side], endpoint, hot, connections);
      if (n > 0) rounds[side].push(round);
    }
  }
  const ratio = median(
    rounds.ours.map(({ perSecond }, n) => perSecond / (rounds.peer[n]?.perSecond ?? Number.NaN)),
  );
  const [ours, peer] = [middle(rounds.ours), middle(rounds.peer)];
  const aims: [string, boolean][] = [];
  if (connections === AIM_AT) {
    aims.push([`≥ ${AIMS[endpoint]}`, ratio >= AIMS[endpoint]]);
    aims.push(["p99 not above the peer's", ours.p99 <= peer.p99]);
  }
  if (connections === 1) aims.push([`≥ ${AIM_ALONE}`, ratio >= AIM_ALONE]);
  const where = hot ? 'one server' : `${servers} servers`;
  console.log(
    `\n${endpoint}, ${where}, ${connections} connections: ${ratio.toFixed(2)} ${aims.map(([aim, met]) => against(aim, met)).join(' ')}`,
  );
  console.log(`  ours ${shown(ours)}\n  peer ${shown(peer)}`);
}

for (const endpoint of endpoints) {
  for (const hot of endpoint === 'status' ? [false] : [false, true]) {
    for (const count of connections) await compare(endpoint, hot, count);
  }
}
arena.close();
await house.close();
