import { type AnyBulkWriteOperation, type Collection, UUID, type WithId } from 'mongodb';
import { type Clock, SECOND } from '../clock.ts';
import type { Config } from '../config.ts';
import { within } from '../deadline.ts';
import type { Producer } from '../queues.ts';
import type { Resources } from '../resources.ts';
import type { Server } from '../servers/server.ts';
import { planOfClaim } from './probe-state.ts';

/** What claiming works on. */
export type Claiming = {
  config: Pick<Config, 'PROBES'>;
  servers: Collection<Server>;
  queues: Pick<Resources['queues'], 'probe-servers'>;
  producer: Producer;
  clock: Clock;
};

/** So many servers are claimed in one round; a round a second asks 100,000 servers in four minutes. */
const MOST_A_ROUND = 500;

/** While so many jobs wait, the workers cannot follow: servers stay due, and are claimed when there is room. */
const MOST_WAITING = 2_000;

/** Redis is asked for no longer. */
const PATIENCE_MS = SECOND;

type Due = WithId<Pick<Server, 'slug' | 'probe'>>;

/**
 * Claims the servers that are due and enqueues their probes. The claim plans the next probe at once: a crash
 * before the job is enqueued costs the server one interval. Of several schedulers one gets a server. While Redis is
 * away nothing is claimed; what it did not take is given back.
 *
 * @returns how many were enqueued
 * @throws what MongoDB throws
 */
export async function claimDueServers(deps: Claiming): Promise<number> {
  if (deps.config.PROBES === 'off') return 0;
  const room = await roomInQueue(deps);
  if (room <= 0) return 0;
  const now = deps.clock.now();
  const due = await deps.servers
    // As in the partial index: a server without a game cannot be asked.
    .find({ removedAt: null, game: { $type: 'string' }, 'probe.nextAt': { $lte: now } })
    .sort({ 'probe.nextAt': 1 })
    .limit(Math.min(room, MOST_A_ROUND))
    .project<Due>({ slug: 1, probe: 1 })
    .toArray();
  if (due.length === 0) return 0;
  const claimed = await claim(deps.servers, due, now);
  const jobs = claimed.map(({ server }) => ({
    payload: { serverId: server._id.toHexString() },
    subject: server.slug,
  }));
  const taken = await deps.producer.addAll('probe-servers', jobs);
  if (taken < claimed.length) await giveBack(deps.servers, claimed.slice(taken));
  return taken;
}

async function roomInQueue({ queues }: Claiming): Promise<number> {
  try {
    return MOST_WAITING - (await within(PATIENCE_MS, queues['probe-servers'].getWaitingCount()));
  } catch {
    return 0;
  }
}

type Claimed = { server: Due; claim: UUID };

/** Claims each server unless somebody else has done so, or checked or edited it, since it was read. */
async function claim(servers: Collection<Server>, due: Due[], now: Date): Promise<Claimed[]> {
  const wanted = due.map((server) => ({ server, claim: new UUID() }));
  await servers.bulkWrite(
    wanted.map(({ server: { _id, probe }, claim }): AnyBulkWriteOperation<Server> => {
      const plan = planOfClaim(probe, now);
      return {
        updateOne: {
          filter: { _id, removedAt: null, 'probe.revision': probe.revision },
          update: {
            $set: {
              'probe.claim': claim,
              'probe.nextAt': plan.nextAt,
              'probe.scheduledAt': plan.scheduledAt,
              'probe.claimSeconds': plan.claimSeconds,
            },
            $inc: { 'probe.revision': 1 },
          },
        },
      };
    }),
    { ordered: false },
  );
  // A bulk write says how many it changed, not which.
  const standing = await servers
    .find({ _id: { $in: due.map(({ _id }) => _id) } })
    .project<WithId<{ probe: { claim: UUID | null } }>>({ 'probe.claim': 1 })
    .toArray();
  const claims = new Map(standing.map(({ _id, probe }) => [_id.toHexString(), probe.claim?.toString()]));
  return wanted.filter(({ server, claim }) => claims.get(server._id.toHexString()) === claim.toString());
}

/** They are due again as they were. */
async function giveBack(servers: Collection<Server>, claimed: Claimed[]): Promise<void> {
  await servers.bulkWrite(
    claimed.map(({ server: { _id, probe }, claim }) => ({
      updateOne: {
        filter: { _id, 'probe.claim': claim },
        update: {
          $set: {
            'probe.claim': null,
            'probe.nextAt': probe.nextAt,
            'probe.scheduledAt': probe.scheduledAt,
            'probe.claimSeconds': 0,
          },
          $inc: { 'probe.revision': 1 },
        },
      },
    })),
    { ordered: false },
  );
}
