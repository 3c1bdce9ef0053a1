/**
 * Compares one worker that drains a listener's backlog with a bare loop that records nothing, at the same concurrency
 * and against the same listener process, in turn:
 *
 *   node bench/delivery/backlog.ts [votes] [rounds]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ObjectId } from 'mongodb';
import { testUnreachableListener } from '../../src/delivery/test-unreachable.ts';
import { MAX_CONCURRENT_ATTEMPTS } from '../../src/listeners/delivery-limits.ts';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { insertWaitingVotes } from '../../test/support/votes.ts';
import { openEnvironment } from './environment.ts';
import { against, median, until, watchCpu } from './figures.ts';

const [votes = 20_000, rounds = 3] = process.argv.slice(2).map(Number);
const AIM = 0.5;
const TOKEN = 'a-token-of-this-bench';

const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: 1 } });
const environment = await openEnvironment();
const { deps } = environment;
const bare = fork(new URL('bare-loop.ts', import.meta.url));
const worker = await environment.worker();
const port = fakes.ports[0] as number;

/** The rate at the listener in votes per second, from the first to the last vote. */
async function rate(): Promise<number> {
  const [received] = (await fakes.report()).received;
  if (!received?.firstAt || !received.lastAt) throw new Error('the listener saw nothing');
  return ((received.votes - 1) / (received.lastAt - received.firstAt)) * 1_000;
}

async function drained(): Promise<{ rate: number; cpu: string }> {
  await fakes.forget(0);
  await fakes.stop(0);
  const [serverId] = (await listServersAt(deps, [port], TOKEN)) as [ObjectId];
  await insertWaitingVotes(deps, [serverId], votes);
  await until(async () => (await deps.listeners.findOne({ serverId }))?.breaker.openSince !== undefined);
  // The vote that failed while the listener was down would be retried some seconds later, after all others.
  const waiting = { serverId, 'delivery.state': 'waiting' } as const;
  await deps.votes.updateMany(waiting, { $set: { 'delivery.nextAt': new Date() } });
  await fakes.start(0);
  const cpu = await watchCpu({
    worker: [worker.pid],
    mongod: [environment.mongodPid],
    redis: [environment.redisPid],
    listener: [fakes.pid],
  });
  await testUnreachableListener(deps, serverId);
  await until(async () => (await deps.votes.countDocuments(waiting)) === 0, 500);
  const used = await cpu();
  await until(
    async () => (await deps.votes.countDocuments({ serverId, 'delivery.state': 'delivered' })) === votes,
  );
  const seen = (await fakes.report()).received[0]?.votes;
  if (seen !== votes) throw new Error(`the listener took ${seen} votes of ${votes}`);
  return { rate: await rate(), cpu: used };
}

async function bareRound(): Promise<{ rate: number; cpu: string }> {
  await fakes.forget(0);
  const cpu = await watchCpu({ loop: [bare.pid ?? 0], listener: [fakes.pid] });
  bare.send({ port, token: TOKEN, votes, atOnce: MAX_CONCURRENT_ATTEMPTS });
  await once(bare, 'message');
  return { rate: await rate(), cpu: await cpu() };
}

console.log(`node bench/delivery/backlog.ts ${votes} ${rounds}`);
console.log(`${votes} votes for one listener that is back, ${MAX_CONCURRENT_ATTEMPTS} at once`);
const results = { bare: [] as number[], ours: [] as number[] };
for (let round = 0; round <= rounds; round += 1) {
  const one = { bare: await bareRound(), ours: await drained() };
  const name = round === 0 ? 'warm-up' : `round ${round}`;
  console.log(`${name}: bare ${one.bare.rate.toFixed(0)}/s; ${one.bare.cpu}`);
  console.log(`${name}: ours ${one.ours.rate.toFixed(0)}/s; ${one.ours.cpu}`);
  if (round === 0) continue;
  results.bare.push(one.bare.rate);
  results.ours.push(one.ours.rate);
}
const [peer, ours] = [median(results.bare), median(results.ours)];
const ratio = ours / peer;
console.log(
  `median: ours ${ours.toFixed(0)}/s, bare ${peer.toFixed(0)}/s, ratio ${ratio.toFixed(2)} ${against(`≥ ${AIM}`, ratio >= AIM)}`,
);

bare.disconnect();
await environment.close();
await fakes.close();
