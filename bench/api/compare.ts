/**
 * Compares the API with two bare peers, in turn on one mongod and Redis, one web process each: one that does the same as
 * ours (peer.ts), and one that does the minimum (minimal-peer.ts; vote, check-vote, also of players who have voted, and info).
 *
 *   node bench/api/compare.ts [seconds] [rounds] [servers] [past votes] [connections] [endpoints] [peers]
 *
 *   node bench/api/compare.ts 3 5 10000 10000 1,10,50,200 vote,check-vote,info,reviews,status peer,minimal
 *
 * Every round calls one endpoint for some seconds, for all servers evenly or for one server. A server reports its status
 * once in five minutes, so a round of reports ends with the last server. No worker runs, so its jobs accumulate in Redis,
 * on both sides. Every vote and every check-vote is for a new player.
 */
import { UUID } from 'mongodb';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { openEnvironment, type Program } from '../delivery/environment.ts';
import { against, median } from '../delivery/figures.ts';
import { type Measured, openArena } from './arena.ts';
import { addVotes, listCallers } from './listing.ts';
import type { Endpoint } from './load.ts';

const [seconds = 3, count = 5, servers = 10_000, past = 10_000] = process.argv.slice(2, 6).map(Number);
const connections = (process.argv[6] ?? '1,10,50,200').split(',').map(Number);
const endpoints = (process.argv[7] ?? 'vote,check-vote,info,reviews,status').split(',') as Endpoint[];
type Peer = 'peer' | 'minimal';
const peers = (process.argv[8] ?? 'peer,minimal').split(',') as Peer[];

/** The aims at 50 connections: our rate as a multiple of each peer's. The minimal peer has only these endpoints. */
const AIMS: Record<Peer, Partial<Record<Endpoint, number>>> = {
  peer: { vote: 3, 'check-vote': 4, info: 5, reviews: 2, status: 2 },
  minimal: { vote: 2.5, 'check-vote': 2.5, 'check-voted': 2.2, info: 3.8 },
};
const AIM_AT = 50;
const AIM_ALONE = 0.85;
/** The aim for CPU time: our vote takes at most this share of the CPU time of the minimal peer's vote. */
const AIM_CPU = 0.3;

console.log(`node bench/api/compare.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, servers);
await addVotes(deps, callers, past);
const arena = openArena(environment);
const sides = {
  ours: await environment.web(),
  peer: await environment.program('bench/api/peer.ts'),
  minimal: await environment.program('bench/api/minimal-peer.ts'),
};
type Side = keyof typeof sides;

async function play(web: Program, endpoint: Endpoint, hot: boolean, connections: number): Promise<Measured> {
  if (endpoint === 'status') {
    // The last reports are six minutes old, so that every server may report now.
    const lastReport = { id: new UUID(), at: after(new Date(), -6 * MINUTE) };
    await deps.servers.updateMany({}, { $set: { lastReport } });
  }
  if (endpoint === 'vote') await deps.queues['forward-votes'].obliterate({ force: true });
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

const totalCpu = ({ cpu }: Measured) => cpu.web + cpu.mongod + cpu.redis;

/**
 * Measures one endpoint: first one round of each program to warm up, then rounds in turn. Each time another program
 * begins.
 */
async function compare(endpoint: Endpoint, hot: boolean, connections: number): Promise<void> {
  const compared = peers.filter((peer) => AIMS[peer][endpoint] !== undefined);
  const order: Side[] = ['ours', ...compared];
  const rounds: Record<Side, Measured[]> = { ours: [], peer: [], minimal: [] };
  for (let n = 0; n <= count; n += 1) {
    for (let turn = 0; turn < order.length; turn += 1) {
      const side = order[(n + turn) % order.length] as Side;
      const round = await play(sides[side], endpoint, hot, connections);
      if (n > 0) rounds[side].push(round);
    }
  }
  const ours = middle(rounds.ours);
  const where = hot ? 'one server' : `${servers} servers`;
  console.log(`\n${endpoint}, ${where}, ${connections} connections\n  ours ${shown(ours)}`);
  for (const peer of compared) {
    const theirs = middle(rounds[peer]);
    const ratioOf = (figure: (round: Measured) => number) =>
      median(rounds.ours.map((round, n) => figure(round) / figure(rounds[peer][n] as Measured)));
    console.log(`  ${peer} ${shown(theirs)}`);
    console.log(
      `    ours ÷ ${peer}: answers ${aimed(
        ratioOf(({ perSecond }) => perSecond),
        peer,
        endpoint,
        connections,
      )}; processor time ${aimedCpu(ratioOf(totalCpu), peer, endpoint, connections)}`,
    );
  }
}

function aimed(ratio: number, peer: Peer, endpoint: Endpoint, connections: number): string {
  const aim = connections === 1 ? AIM_ALONE : connections === AIM_AT ? AIMS[peer][endpoint] : undefined;
  return `${ratio.toFixed(2)}${aim ? ` ${against(`≥ ${aim}`, ratio >= aim)}` : ''}`;
}

function aimedCpu(ratio: number, peer: Peer, endpoint: Endpoint, connections: number): string {
  const applies = peer === 'minimal' && endpoint === 'vote' && connections === AIM_AT;
  return `${ratio.toFixed(2)}${applies ? ` ${against(`≤ ${AIM_CPU}`, ratio <= AIM_CPU)}` : ''}`;
}

for (const endpoint of endpoints) {
  for (const hot of endpoint === 'status' ? [false] : [false, true]) {
    for (const some of connections) await compare(endpoint, hot, some);
  }
}
arena.close();
await environment.close();
