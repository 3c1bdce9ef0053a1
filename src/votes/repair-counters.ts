import type { Collection, ObjectId } from 'mongodb';
import { after, DAY } from '../clock.ts';
import type { Logger } from '../log.ts';
import { startOf } from '../periods/period-marks.ts';
import type { Progress } from '../progress.ts';
import type { Server } from '../servers/server.ts';
import { type Drift, isSettledDay, type Recounting, recountVotes } from './recount-votes.ts';
import { EXCLUDED_VOTES } from './vote.ts';

type Repairing = Recounting & { servers: Collection<Server>; log: Logger };

/** How a repair ended: how many servers were looked at, and those whose counter was wrong. */
export type Repair = { servers: number; drifts: (Drift & { serverId: ObjectId })[] };

/** The day is not over for 10 minutes yet: votes of it may still be counted. */
export class DayNotSettledError extends Error {
  readonly code = 'day-not-settled';

  constructor(day: string) {
    super(`The counters of ${day} are repaired from 10 minutes after its end on.`);
    this.name = 'DayNotSettledError';
  }
}

/** So many servers are counted in one query. */
const SLICE = 500;

/**
 * Holds the counters of a finished UTC day against the votes, of all servers that ever were listed, and puts
 * those right that differ. Running it again, or twice at once, changes nothing more.
 *
 * @throws {DayNotSettledError}; the signal's reason
 */
export async function repairCounters(
  deps: Repairing,
  day: string,
  { progress, signal }: { progress?: Progress; signal?: AbortSignal } = {},
): Promise<Repair> {
  if (!isSettledDay(day, deps.clock.now())) throw new DayNotSettledError(day);
  const { servers, log } = deps;
  const total = await servers.estimatedDocumentCount();
  const repair: Repair = { servers: 0, drifts: [] };
  let last: ObjectId | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const ids = await servers
      .find(last ? { _id: { $gt: last } } : {}, { sort: { _id: 1 }, limit: SLICE, projection: { _id: 1 } })
      .map(({ _id }) => _id)
      .toArray();
    last = ids.at(-1);
    if (!last) return repair;
    for (const serverId of await suspects(deps, ids, day)) {
      for (const drift of await recountVotes(deps, serverId, [day])) {
        repair.drifts.push({ serverId, ...drift });
        log.warn({ event: 'votes.drift', serverId: serverId.toHexString(), ...drift });
      }
    }
    repair.servers += ids.length;
    progress?.(repair.servers, total);
  }
}

/** Those of the servers whose counter of the day does not say what the votes say. */
async function suspects(
  { votes, voteCounters }: Repairing,
  serverIds: ObjectId[],
  day: string,
): Promise<ObjectId[]> {
  const start = startOf(day);
  const cast = { serverId: { $in: serverIds }, votedAt: { $gte: start, $lt: after(start, DAY) } };
  const perServer = async (match: object, hint: string) => {
    const counts = votes.aggregate<{ _id: ObjectId; votes: number }>(
      [{ $match: match }, { $group: { _id: '$serverId', votes: { $sum: 1 } } }],
      { hint },
    );
    return new Map(await counts.map((count) => [count._id.toHexString(), count.votes] as const).toArray());
  };
  const [all, excluded, counters] = await Promise.all([
    perServer(cast, 'serverId_1_votedAt_1'),
    perServer({ ...cast, excludedAt: { $gt: new Date(0) } }, EXCLUDED_VOTES),
    voteCounters.find({ serverId: { $in: serverIds }, month: day.slice(0, 7) }).toArray(),
  ]);
  const counted = new Map(
    counters.map(({ serverId, days }) => [serverId.toHexString(), days[day.slice(8)] ?? 0]),
  );
  return serverIds.filter((serverId) => {
    const id = serverId.toHexString();
    return (counted.get(id) ?? 0) !== (all.get(id) ?? 0) - (excluded.get(id) ?? 0);
  });
}
