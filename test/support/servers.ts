import { ObjectId } from 'mongodb';
import { setListener } from '../../src/delivery/change-listener.ts';
import { secretContext } from '../../src/delivery/credentials.ts';
import { type Listener, REACHABLE } from '../../src/listeners/listener.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { addServer, newListing } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';
import { slugOf } from '../../src/servers/slug.ts';

const BATCH = 5_000;

/**
 * The first server was listed this many days ago, each further one a day later. It must exceed the number of servers in
 * a test.
 */
const OLDEST_DAYS = 2_000;

/** The fields of a listed server that a test sets; the others have defaults. */
export type Listed = Partial<
  Pick<Server, 'name' | 'game' | 'countryCode' | 'isPremium' | 'hiddenAt' | 'removedAt'>
> & {
  /** The number of today's votes, which determines the rank. */
  votes?: number;
  online?: number | null;
  max?: number;
  version?: string;
  motd?: string;
  address?: string;
  players?: (number | null)[];
  /** The uptime from our own probes; null if unknown. */
  uptime?: number | null;
  /** The number of approved reviews and the sum of their ratings. */
  reviews?: { count: number; ratingSum: number };
};

/** Lists servers that have existed for a while, each with a slug of its name, and ranks them. */
export async function listServers(deps: AppDeps, listed: Listed[]): Promise<ObjectId[]> {
  const now = deps.clock.now();
  const servers = listed.map((one, index) => serverOf(one, index, now));
  await deps.servers.insertMany(servers);
  const voted = listed.flatMap(({ votes }, index) => (votes ? [{ votes, _id: servers[index]?._id }] : []));
  const [month, day] = [now.toISOString().slice(0, 7), now.toISOString().slice(8, 10)];
  if (voted.length > 0) {
    await deps.voteCounters.insertMany(
      voted.map(({ votes, _id = new ObjectId() }) => {
        return { _id: new ObjectId(), serverId: _id, month, days: { [day]: votes } };
      }),
    );
  }
  const lists = listed.flatMap(({ reviews }, index) => {
    const _id = servers[index]?._id;
    return reviews && _id ? [{ _id, ...reviews, entries: [] }] : [];
  });
  if (lists.length > 0) await deps.reviewLists.insertMany(lists);
  await recomputeRanks(deps);
  return servers.map(({ _id }) => _id);
}

function serverOf(one: Listed, index: number, now: Date) {
  const {
    name = `Server ${index + 1}`,
    game = null,
    countryCode = null,
    isPremium = false,
    online = null,
  } = one;
  const _id = new ObjectId();
  const { address = `${index + 1}.example.org`, motd = '' } = one;
  const settings = { name, address, port: 25_565, queryPort: null, game, countryCode, isPremium };
  // For servers with equal votes, the older listing ranks first; so the given order is the order of the ranks.
  const listedAt = after(now, (index - OLDEST_DAYS) * DAY);
  const server = newListing({ _id, settings, now, listedAt, rankPosition: index + 1 });
  const { version = '', max = 100, players, hiddenAt = null, removedAt = null, uptime = null } = one;
  const slug = `${slugOf(name, _id.toHexString())}${one.name ? '' : `-${_id.toHexString().slice(-4)}`}`;
  return {
    ...server,
    hiddenAt,
    removedAt,
    slug,
    slugs: [slug],
    current: {
      ...server.current,
      onlinePlayers: online ?? 0,
      maxPlayers: max,
      motd,
      version,
      checkedAt: now,
    },
    daily: { ...server.daily, probedUptime: uptime, ...(players ? { players: players as number[] } : {}) },
    probe: {
      ...server.probe,
      status: online === null ? ('offline' as const) : ('online' as const),
      checkedAt: now,
      succeededAt: now,
    },
  };
}

/**
 * Lists one server for each port and sets its v2 listener to that port. Only one server is listed by the product; the
 * others are copies of it.
 *
 * @param lastDeliveredAt - when the listeners last accepted a vote
 */
export async function listServersAt(
  deps: AppDeps,
  ports: number[],
  token: string,
  lastDeliveredAt: Date | null = null,
): Promise<ObjectId[]> {
  const name = `Server ${new ObjectId().toHexString()}`;
  const added = await addServer(deps, { name, address: 'play.example.org', port: 25_565 }, 'test');
  const modelId = new ObjectId(added.serverId);
  const settings = { host: '127.0.0.1', port: 1, secret: token, serviceName: 'Tallyport' };
  await setListener(deps, modelId, { protocol: 'votifier-v2', ...settings }, 'test');
  const server = (await deps.servers.findOneAndDelete({ _id: modelId })) as Server;
  const listener = (await deps.listeners.findOneAndDelete({ serverId: modelId })) as Listener;
  const serverIds = ports.map(() => new ObjectId());
  for (let from = 0; from < ports.length; from += BATCH) {
    const some = serverIds.slice(from, from + BATCH);
    await deps.servers.insertMany(
      some.map((_id) => ({
        ...server,
        _id,
        slug: `server-${_id.toHexString()}`,
        slugs: [`server-${_id.toHexString()}`],
      })),
    );
    await deps.listeners.insertMany(
      some.map((serverId, i) => ({
        ...listener,
        _id: new ObjectId(),
        serverId,
        port: ports[from + i] as number,
        // A worker may already have taken the lease of the original.
        lease: null,
        breaker: REACHABLE,
        lastDeliveredAt,
        acknowledgedAt: lastDeliveredAt,
        sealedSecret: deps.secrets.seal(token, secretContext({ serverId })),
      })),
    );
  }
  return serverIds;
}
