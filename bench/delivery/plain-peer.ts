/**
 * The highest steady rate at which votes are acknowledged within 2 s (p99), compared with a plain worker that has a
 * BullMQ job for each vote and none of the guarantees (plain-worker.ts):
 *
 *   node bench/delivery/plain-peer.ts [servers] [seconds a rate] [first rate]
 *
 * This process casts the votes on both sides, without HTTP: ours by the vote rule, the plain side by an insert and an
 * `add`. The rate increases by a quarter until a side fails.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import type { ObjectId } from 'mongodb';
import { SECOND } from '../../src/platform/clock.ts';
import { DURABLE } from '../../src/platform/mongo.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { usernameKey } from '../../src/votes/username.ts';
import { noDelivery, queued } from '../../src/votes/vote.ts';
import { castVote } from '../../test/support/casting.ts';
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { openEnvironment } from './environment.ts';
import { quantile, until, watchCpu } from './figures.ts';
import { PLAIN_QUEUE, type PlainJob } from './plain-queue.ts';

const [servers = 1_000, seconds = 15, firstRate = 100] = process.argv.slice(2).map(Number);
const TOKEN = 'a-token-of-this-bench';
const MOST_LATE_MS = 2 * SECOND;
const STEP = 1.25;

console.log(`node bench/delivery/plain-peer.ts ${process.argv.slice(2).join(' ')}`);
const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: Math.min(100, servers) } });
const environment = await openEnvironment();
const { deps } = environment;
const { votes } = deps;
const ports = Array.from({ length: servers }, (_, i) => fakes.ports[i % fakes.ports.length] as number);
let named = 0;

/** Casts votes at a rate and waits until they are delivered. Returns the p99 of the time until then, in milliseconds. */
async function lateness(
  rate: number,
  serverIds: ObjectId[],
  cast: (id: ObjectId, name: string) => Promise<unknown>,
) {
  const [began, since] = [performance.now(), new Date()];
  for (let n = 0; n < rate * seconds; n += 1) {
    const early = began + (n * SECOND) / rate - performance.now();
    if (early > 0) await pause(early);
    named += 1;
    void cast(serverIds[n % servers] as ObjectId, `Player${named}`).catch(() => undefined);
  }
  const wanted = { serverId: { $in: serverIds }, votedAt: { $gte: since } };
  const stopAt = performance.now() + 60 * SECOND;
  const isDone = async () =>
    (await votes.countDocuments({ ...wanted, 'delivery.state': 'delivered' })) >= rate * seconds;
  await until(async () => performance.now() > stopAt || (await isDone()), SECOND);
  const times = await votes
    .find({ ...wanted, 'delivery.state': 'delivered' })
    .map(({ votedAt, delivery }) => Number(delivery.deliveredAt) - Number(votedAt))
    .toArray();
  return times.length < rate * seconds ? Number.POSITIVE_INFINITY : quantile(times, 0.99);
}

/** Increases the rate until votes are late. Returns the highest rate at which they were not. */
async function highestRate(
  side: string,
  worker: { pid: number; stop(): Promise<void> },
  cast: (serverId: ObjectId, name: string) => Promise<unknown>,
): Promise<number> {
  const serverIds = await listServersAt(deps, ports, TOKEN, new Date());
  let highest = 0;
  for (let rate = firstRate; ; rate = Math.round(rate * STEP)) {
    const cpu = await watchCpu({
      caster: [process.pid],
      worker: [worker.pid],
      mongod: [environment.mongodPid],
    });
    const late = await lateness(rate, serverIds, cast);
    console.log(`${side}: ${rate} a second, p99 ${(late / SECOND).toFixed(2)} s; ${await cpu()}`);
    if (late > MOST_LATE_MS) break;
    highest = rate;
  }
  await worker.stop();
  return highest;
}

const ours = await highestRate('ours', await environment.worker(), (serverId, username) =>
  castVote(deps, { serverId, username, tokenId: null }),
);

const queue = new Queue<PlainJob>(PLAIN_QUEUE, { connection: { url: deps.config.REDIS_URL } });
const plainWorker = fork(fileURLToPath(new URL('plain-worker.ts', import.meta.url)), {
  env: { ...process.env, ...environment.env },
});
await once(plainWorker, 'message');
const stop = async () => {
  plainWorker.kill('SIGTERM');
  await once(plainWorker, 'exit');
};
const plain = await highestRate('plain', { pid: plainWorker.pid ?? 0, stop }, async (serverId, username) => {
  const votedAt = new Date();
  const _id = newVoteId(votedAt);
  const vote = {
    _id,
    serverId,
    username,
    usernameKey: usernameKey(username),
    seq: 1,
    votedAt,
    tokenId: null,
  };
  const delivery = { ...noDelivery(), ...queued(votedAt, 'cast') };
  await votes.insertOne({ ...vote, source: 'web', delivery }, { writeConcern: DURABLE });
  const options = {
    removeOnComplete: 200,
    attempts: 10,
    backoff: { type: 'exponential', delay: 5 * SECOND },
  };
  await queue.add('vote', { serverId: serverId.toHexString(), voteId: _id.toString() }, options);
});
console.log(
  `highest rate with p99 ≤ 2 s: ours ${ours}, plain ${plain}, ours ÷ plain ${(ours / plain).toFixed(2)}`,
);
await queue.close();
await environment.close();
await fakes.close();
