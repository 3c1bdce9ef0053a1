/**
 * What one request costs, ours and the minimal peer's, in turn: the commands of mongod and Redis that it causes, and the
 * processor time, in the process (user) and in the kernel (system).
 *
 *   node bench/api/per-request.ts [seconds] [rounds] [servers] [connections] [endpoints]
 *
 *   node bench/api/per-request.ts 3 3 2000 1 vote,check-vote,check-voted,info
 */
import { readFile } from 'node:fs/promises';
import { openEnvironment, type Program, TICKS_A_SECOND } from '../delivery/environment.ts';
import { median, watchCommands } from '../delivery/figures.ts';
import { type Measured, openArena } from './arena.ts';
import { addVotes, listCallers } from './listing.ts';
import type { Endpoint } from './load.ts';

const [seconds = 3, rounds = 3, servers = 2_000, connections = 1] = process.argv.slice(2, 6).map(Number);
const endpoints = (process.argv[6] ?? 'vote,check-vote,check-voted,info').split(',') as Endpoint[];

console.log(`node bench/api/per-request.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, servers);
await addVotes(deps, callers, Math.max(10_000, servers));
const arena = openArena(environment);
const sides = {
  ours: await environment.web(),
  minimal: await environment.program('bench/api/minimal-peer.ts'),
};
type Side = keyof typeof sides;
const SIDES = Object.keys(sides) as Side[];

type Costs = Measured & { user: number; system: number; commands: string };

async function play(web: Program, endpoint: Endpoint): Promise<Costs> {
  if (endpoint === 'vote') await deps.queues['forward-votes'].obliterate({ force: true });
  const [before, commands] = await Promise.all([microseconds(web.pid), watchCommands(deps)]);
  const round = { endpoint, connections, seconds, answers: Number.POSITIVE_INFINITY, callers };
  const measured = await arena.play(web, round);
  const after = await microseconds(web.pid);
  return {
    ...measured,
    user: (after.user - before.user) / measured.answers,
    system: (after.system - before.system) / measured.answers,
    commands: await commands(measured.answers),
  };
}

async function microseconds(pid: number): Promise<{ user: number; system: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map((ticks) => (Number(ticks) * 1e6) / TICKS_A_SECOND);
  return { user, system };
}

for (const endpoint of endpoints) {
  const all: Record<Side, Costs[]> = { ours: [], minimal: [] };
  for (let n = 0; n <= rounds; n += 1) {
    for (const side of n % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const costs = await play(sides[side], endpoint);
      // The first round warms up.
      if (n > 0) all[side].push(costs);
    }
  }
  console.log(`\n${endpoint}, ${servers} servers, ${connections} connections`);
  for (const side of SIDES) {
    const of = (figure: (one: Costs) => number) => median(all[side].map(figure)).toFixed(0);
    console.log(
      `  ${side}: ${of((one) => one.perSecond)}/s, web ${of((one) => one.cpu.web)} µs (user ${of((one) => one.user)}, system ${of((one) => one.system)}), mongod ${of((one) => one.cpu.mongod)} µs, redis ${of((one) => one.cpu.redis)} µs; ${all[side].at(-1)?.commands}`,
    );
  }
  const total = ({ cpu }: Measured) => cpu.web + cpu.mongod + cpu.redis;
  const ratioOf = (figure: (one: Costs) => number) =>
    median(all.ours.map((one, n) => figure(one) / figure(all.minimal[n] as Costs))).toFixed(2);
  console.log(
    `  ours ÷ minimal: answers ${ratioOf((one) => one.perSecond)}, processor time ${ratioOf(total)}`,
  );
}
arena.close();
await environment.close();
