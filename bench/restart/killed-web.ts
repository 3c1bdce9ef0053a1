/**
 * Kills a web process with `kill -9` under load, while a scheduler and a worker run:
 *
 *   node bench/restart/killed-web.ts [votes a second] [seconds of load] [servers]
 *
 * Prints how many votes are not counted right after that, and how long it takes until all are counted (at most 5
 * minutes).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { listCallers } from '../api/listing.ts';
import { openEnvironment } from '../delivery/environment.ts';

const [rate = 200, seconds = 30, servers = 100] = process.argv.slice(2, 5).map(Number);
const LONGEST_MS = 5 * MINUTE;
console.log(`node bench/restart/killed-web.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, servers);
// The generated listing has counters without votes. Delete both, so that they are equal at the start.
await Promise.all([deps.votes.deleteMany({}), deps.voteCounters.deleteMany({})]);
await environment.program('workers/scheduler.ts');
await environment.worker();
const web = await environment.web();

let accepted = 0;
const cast = async (n: number): Promise<void> => {
  const { serverId, token } = callers[n % callers.length] ?? { serverId: '', token: '' };
  const answer = await fetch(`${web.url}/api/v1/servers/${serverId}/vote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: `Player${n}` }),
  }).catch(() => null);
  if (answer?.status === 200) accepted += 1;
  await answer?.arrayBuffer().catch(() => undefined);
};

/** Compares votes and counters: in total, and the servers for which they differ. */
async function compare() {
  const [votes, counters] = await Promise.all([
    deps.votes.aggregate([{ $group: { _id: '$serverId', votes: { $sum: 1 } } }]).toArray(),
    deps.voteCounters.find({}).toArray(),
  ]);
  const counted = new Map<string, number>();
  for (const { serverId, days } of counters) {
    const sum = Object.values(days).reduce((total, count) => total + count, 0);
    counted.set(String(serverId), (counted.get(String(serverId)) ?? 0) + sum);
  }
  const off = votes.map(({ _id, votes }) => votes - (counted.get(String(_id)) ?? 0));
  return {
    votes: votes.reduce((sum, one) => sum + one.votes, 0),
    missing: off.reduce((sum, n) => sum + Math.max(0, n), 0),
    tooMany: off.reduce((sum, n) => sum + Math.max(0, -n), 0),
    servers: off.filter((n) => n !== 0).length,
  };
}

const began = performance.now();
const casts: Promise<void>[] = [];
let killedAt = 0;
for (let n = 0; ; n += 1) {
  const wait = began + (n * SECOND) / rate - performance.now();
  if (wait > 0) await pause(wait);
  if (performance.now() - began > seconds * SECOND) {
    process.kill(web.pid, 'SIGKILL');
    killedAt = performance.now();
    break;
  }
  casts.push(cast(n));
}
await Promise.all(casts);
const after = await compare();
console.log(
  `killed after ${((killedAt - began) / SECOND).toFixed(0)} s and ${accepted} accepted votes; ${after.votes} are stored, ${after.missing} votes of ${after.servers} servers are not counted, ${after.tooMany} too many`,
);
for (;;) {
  const { missing, tooMany, servers: wrong } = await compare();
  const elapsed = performance.now() - killedAt;
  if (wrong === 0) {
    console.log(
      `counters equal the votes ${(elapsed / SECOND).toFixed(0)} s after the kill (aim ≤ 300 s: met)`,
    );
    break;
  }
  if (elapsed > LONGEST_MS) {
    console.log(`${missing} missing, ${tooMany} too many after 300 s (MISSED)`);
    break;
  }
  await pause(SECOND);
}
await environment.close();
