/**
 * Measures the gain of two more workers if listeners answer slowly: the rate at which one worker process, and then
 * three, deliver the same votes, in turn:
 *
 *   node bench/delivery/scaling.ts [listeners] [votes each] [answer ms] [concurrency of a worker] [rounds]
 *
 * WORKER_CONCURRENCY is far below its default of 256, so that the workers wait for listeners, and the CPUs of a small
 * machine are not the limit. The CPU line of the output shows whether this is true.
 */
import { startFakeListeners } from '../../test/support/fake-listeners.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { insertWaitingVotes } from '../../test/support/votes.ts';
import { openEnvironment } from './environment.ts';
import { against, median, until, watchCpu } from './figures.ts';

const [listeners = 200, each = 8, answerDelayMs = 200, concurrency = 6, rounds = 2] = process.argv
  .slice(2)
  .map(Number);
const AIM = 2.7;
const TOKEN = 'a-token-of-this-bench';

const fakes = await startFakeListeners({ token: TOKEN, listeners: { count: listeners, answerDelayMs } });
const environment = await openEnvironment({ WORKER_CONCURRENCY: String(concurrency) });
const { deps } = environment;

/** Votes per second, from the first acknowledged vote to the last. */
async function delivered(workers: number): Promise<number> {
  const serverIds = await listServersAt(deps, fakes.ports, TOKEN, new Date());
  await insertWaitingVotes(deps, serverIds, each);
  const running = await Promise.all(Array.from({ length: workers }, () => environment.worker()));
  const cpu = await watchCpu({
    workers: running.map(({ pid }) => pid),
    mongod: [environment.mongodPid],
    listeners: [fakes.pid],
  });
  const all = listeners * each;
  const wanted = { serverId: { $in: serverIds }, 'delivery.state': 'delivered' } as const;
  await until(async () => (await deps.votes.countDocuments(wanted)) === all, 500);
  const used = await cpu();
  const [times] = await deps.votes
    .aggregate<{ first: Date; last: Date }>([
      { $match: wanted },
      {
        $group: {
          _id: null,
          first: { $min: '$delivery.deliveredAt' },
          last: { $max: '$delivery.deliveredAt' },
        },
      },
    ])
    .toArray();
  const rate = (1_000 * all) / (Number(times?.last) - Number(times?.first) + answerDelayMs);
  await Promise.all(running.map((worker) => worker.stop()));
  console.log(`${workers} worker${workers > 1 ? 's' : ''}: ${rate.toFixed(0)} votes/s; ${used}`);
  return rate;
}

console.log(`node bench/delivery/scaling.ts ${listeners} ${each} ${answerDelayMs} ${concurrency} ${rounds}`);
console.log(
  `${listeners} listeners that answer after ${answerDelayMs} ms, ${each} votes each, WORKER_CONCURRENCY ${concurrency}`,
);
const results = { one: [] as number[], three: [] as number[] };
for (let round = 1; round <= rounds; round += 1) {
  results.one.push(await delivered(1));
  results.three.push(await delivered(3));
}
const ratio = median(results.three) / median(results.one);
console.log(`three workers ÷ one: ${ratio.toFixed(2)} ${against(`≥ ${AIM}`, ratio >= AIM)}`);

await environment.close();
await fakes.close();
