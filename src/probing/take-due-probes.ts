import { type AnyBulkWriteOperation, type Collection, type Filter, UUID, type WithId } from 'mongodb';
import { type Clock, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import type { Producer } from '../platform/producer.ts';
import type { Resources } from '../platform/resources.ts';
import { NOT_PAUSED } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { planOfTake } from './probe-state.ts';

export type TakeDeps = {
  config: Pick<Config, 'PROBES'>;
  servers: Collection<Server>;
  queues: Pick<Resources['queues'], 'probe-servers'>;
  producer: Producer;
  clock: Clock;
};

/** With one call a second, 100,000 servers are probed in 200 seconds. */
const MOST_A_ROUND = 500;

/** Servers that are new, edited or due for a quick retry are taken before servers due for longer. */
const URGENT_A_ROUND = 250;

/** The workers cannot keep up then, and servers that are not urgent stay due. */
const MOST_WAITING = 2_000;

/** Urgent servers may have so many jobs waiting in addition. */
const URGENT_WAITING = 500;

/** If Redis takes longer, nothing is taken. */
const TIMEOUT_MS = SECOND;

type Due = WithId<Pick<Server, 'slug' | 'probe'>>;

/**
 * Takes the due servers and adds the jobs of their probes, urgent ones before all waiting jobs; returns how many. The
 * take also plans the next probe: after a crash the server misses one. Only one of several schedulers takes a server.
 * If Redis accepts only some of the jobs, the other servers are given back.
 */
export async function takeDueServers(deps: TakeDeps): Promise<number> {
  if (deps.config.PROBES === 'off') return 0;
  const waiting = await waitingJobs(deps);
  const now = deps.clock.now();
  const due = await dueServers(deps.servers, waiting, now);
  if (due.length === 0) return 0;
  const taken = await take(deps.servers, due, now);
  const jobs = taken.map(({ server }) => ({
    payload: { serverId: server._id.toHexString() },
    subject: server.slug,
    first: server.probe.urgent,
  }));
  const enqueued = await deps.producer.addAll('probe-servers', jobs);
  if (enqueued < taken.length) await giveBackProbes(deps.servers, taken.slice(enqueued));
  return enqueued;
}

async function waitingJobs({ queues }: TakeDeps): Promise<number> {
  try {
    return await within(TIMEOUT_MS, queues['probe-servers'].getWaitingCount());
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The urgent servers, then those that have been due for longest. */
async function dueServers(servers: Collection<Server>, waiting: number, now: Date): Promise<Due[]> {
  // As the partial indexes, which have only servers with a game.
  const isDue = {
    removedAt: null,
    game: { $type: 'string' as const },
    'probe.nextAt': { $lte: now },
    ...NOT_PAUSED,
  };
  const oldest = async (filter: Filter<Server>, most: number): Promise<Due[]> => {
    if (most <= 0) return [];
    const found = servers.find(filter).sort({ 'probe.nextAt': 1 }).limit(most);
    return found.project<Due>({ slug: 1, probe: 1 }).toArray();
  };
  const urgentRoom = Math.min(URGENT_A_ROUND, MOST_WAITING + URGENT_WAITING - waiting);
  const urgent = await oldest({ ...isDue, 'probe.urgent': true }, urgentRoom);
  const room = Math.min(MOST_A_ROUND, MOST_WAITING - waiting);
  const others = await oldest(isDue, room);
  const each = new Map([...urgent, ...others].map((server) => [server._id.toHexString(), server]));
  // Urgent servers are never left out.
  return [...each.values()].slice(0, Math.max(room, urgent.length));
}

type Taken = { server: Due; claim: UUID };

/** Unless it was taken, checked, edited or paused since it was read. */
async function take(servers: Collection<Server>, due: Due[], now: Date): Promise<Taken[]> {
  const wanted = due.map((server) => ({ server, claim: new UUID() }));
  await servers.bulkWrite(
    wanted.map(({ server: { _id, probe }, claim }): AnyBulkWriteOperation<Server> => {
      const plan = planOfTake(probe, now);
      return {
        updateOne: {
          filter: { _id, removedAt: null, 'probe.revision': probe.revision },
          update: {
            $set: {
              'probe.claim': claim,
              'probe.nextAt': plan.nextAt,
              'probe.scheduledAt': plan.scheduledAt,
              'probe.claimSeconds': plan.claimSeconds,
              'probe.urgent': plan.urgent,
            },
            $inc: { 'probe.revision': 1 },
          },
        },
      };
    }),
    { ordered: false },
  );
  // A bulk write does not return which documents it changed.
  const existing = await servers
    .find({ _id: { $in: due.map(({ _id }) => _id) } })
    .project<WithId<{ probe: { claim: UUID | null } }>>({ 'probe.claim': 1 })
    .toArray();
  const claims = new Map(existing.map(({ _id, probe }) => [_id.toHexString(), probe.claim?.toString()]));
  return wanted.filter(({ server, claim }) => claims.get(server._id.toHexString()) === claim.toString());
}

/** Makes the servers due as they were before the take. */
async function giveBackProbes(servers: Collection<Server>, taken: Taken[]): Promise<void> {
  await servers.bulkWrite(
    taken.map(({ server: { _id, probe }, claim }) => ({
      updateOne: {
        filter: { _id, 'probe.claim': claim },
        update: {
          $set: {
            'probe.claim': null,
            'probe.nextAt': probe.nextAt,
            'probe.scheduledAt': probe.scheduledAt,
            'probe.claimSeconds': 0,
            'probe.urgent': probe.urgent,
          },
          $inc: { 'probe.revision': 1 },
        },
      },
    })),
    { ordered: false },
  );
}
