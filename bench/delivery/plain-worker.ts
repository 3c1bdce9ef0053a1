/**
 * The worker of plain-peer.ts: what most would write with BullMQ. A job is one vote: it is sent, and its outcome is
 * written. Nothing is recorded before the vote is sent, listeners have no order, no lease and no breaker, and a worker
 * that dies sends votes twice or forgets that it sent them.
 */
import { Worker } from 'bullmq';
import { ObjectId, UUID } from 'mongodb';
import { Destination } from '../../src/delivery/destination.ts';
import { createVoteSender, openListener } from '../../src/delivery/send-vote.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { DURABLE } from '../../src/platform/mongo.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { PLAIN_QUEUE, type PlainJob } from './plain-queue.ts';

const deps = await openAppDeps(loadConfig() as ConnectedConfig, 'plain-worker');
const send = createVoteSender(deps.config);
const never = new AbortController().signal;

const worker = new Worker<PlainJob>(
  PLAIN_QUEUE,
  async ({ data }) => {
    const [serverId, _id] = [new ObjectId(data.serverId), new UUID(data.voteId)];
    const [listener, vote] = await Promise.all([
      deps.listeners.findOne({ serverId }),
      deps.votes.findOne({ serverId, _id }),
    ]);
    if (!listener || !vote) throw new Error('no such vote');
    const destination = new Destination(deps, listener, { accountId: null });
    const outcome = await send(openListener(deps.secrets, listener), vote, {
      destination,
      signal: never,
      waitSignal: never,
      mayWrite: () => true,
    });
    if (outcome.class !== 'delivered') throw new Error(outcome.code);
    const delivered = { 'delivery.state': 'delivered', 'delivery.deliveredAt': new Date() } as const;
    await deps.votes.updateOne(
      { serverId, _id },
      { $set: delivered, $unset: { 'delivery.queuedAt': '' } },
      { writeConcern: DURABLE },
    );
  },
  { connection: { url: deps.config.REDIS_URL }, concurrency: 256 },
);
process.on('SIGTERM', async () => {
  await worker.close();
  await deps.close();
});
await worker.waitUntilReady();
process.send?.('ready');
