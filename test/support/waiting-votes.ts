import { ObjectId } from 'mongodb';
import { after } from '../../src/clock.ts';
import { type Listener, REACHABLE } from '../../src/delivery/listener.ts';
import { setListener } from '../../src/delivery/listeners.ts';
import { secretContext } from '../../src/delivery/send-vote.ts';
import type { Platform } from '../../src/platform.ts';
import { addServer } from '../../src/servers/listing.ts';
import type { Server } from '../../src/servers/server.ts';
import { newVoteId } from '../../src/votes/cast-vote.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { deliveryIn, storedVote, timesIn } from './stored-votes.ts';

const BATCH = 5_000;

/**
 * Lists one server for each port, with its v2 listener there: one is listed as its owner would, and the others are
 * copies of it.
 *
 * @param lastDeliveredAt - they are known to answer since then
 */
export async function listServersAt(
  platform: Platform,
  ports: number[],
  token: string,
  lastDeliveredAt: Date | null = null,
): Promise<ObjectId[]> {
  const name = `Copied ${new ObjectId().toHexString()}`;
  const added = await addServer(platform, { name, address: 'play.example.org', port: 25_565 }, 'test');
  const modelId = new ObjectId(added.serverId);
  const settings = { host: '127.0.0.1', port: 1, secret: token, serviceName: 'Tallyport' };
  await setListener(platform, modelId, { protocol: 'votifier-v2', ...settings }, 'test');
  const server = (await platform.servers.findOneAndDelete({ _id: modelId })) as Server;
  const listener = (await platform.listeners.findOneAndDelete({ serverId: modelId })) as Listener;
  const serverIds = ports.map(() => new ObjectId());
  for (let from = 0; from < ports.length; from += BATCH) {
    const some = serverIds.slice(from, from + BATCH);
    await platform.servers.insertMany(
      some.map((_id) => ({
        ...server,
        _id,
        slug: `copy-${_id.toHexString()}`,
        slugs: [`copy-${_id.toHexString()}`],
      })),
    );
    await platform.listeners.insertMany(
      some.map((serverId, i) => ({
        ...listener,
        _id: new ObjectId(),
        serverId,
        port: ports[from + i] as number,
        // A worker may have looked at the model already.
        lease: null,
        breaker: REACHABLE,
        lastDeliveredAt,
        sealedSecret: platform.secrets.seal(token, secretContext({ serverId })),
      })),
    );
  }
  return serverIds;
}

/** Inserts `each` votes for every server as casting does, a millisecond apart, and wakes nobody. */
export async function insertWaitingVotes(
  { votes }: Pick<Platform, 'votes'>,
  serverIds: ObjectId[],
  each: number,
): Promise<void> {
  const oldest = after(new Date(), -each);
  const all = serverIds.length * each;
  for (let from = 0; from < all; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, all - from) }, (_, i) => {
      const n = from + i;
      return waitingVote(
        serverIds[n % serverIds.length] as ObjectId,
        Math.floor(n / serverIds.length),
        oldest,
      );
    });
    await votes.insertMany(batch, { ordered: false });
  }
}

function waitingVote(serverId: ObjectId, n: number, oldest: Date): Vote {
  const votedAt = after(oldest, n);
  return storedVote(serverId, `w${n}-${votedAt.getTime()}`, votedAt, {
    _id: newVoteId(votedAt),
    username: `w${n}-${votedAt.getTime() % 1_000_000}`,
    delivery: deliveryIn('waiting', timesIn('waiting', votedAt)),
  });
}
