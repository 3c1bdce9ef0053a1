import type { AnyBulkWriteOperation, ObjectId, WithId } from 'mongodb';
import { dayOf } from '../../platform/periods/period-marks.ts';
import type { ActiveLease } from '../../platform/periods/work-lease.ts';
import type { Server } from '../../servers/server.ts';
import type { DayWeight, VoteCounter } from '../../votes/vote-counter.ts';
import type { RankingDeps } from '../deps.ts';
import { type CrowdedNetwork, crowdedNetworks } from './crowded-networks.ts';
import { countDayVotes, type DayVotes, noVotes, readVotes, withExclusions } from './day-votes.ts';
import { type DueCounter, eachDueCounter, startWeighing } from './due-days.ts';
import { CURRENT_PLAYERS, playersSeen } from './players-seen.ts';
import { countedPlayers, type DayEvidence, FEWEST, weighDay } from './weigh-day.ts';

const SLICE = 200;

type Due = Omit<DueCounter, 'due'> & { votes: number; isFinal: boolean };
type Known = Pick<DayEvidence, 'players' | 'allowance'> & {
  counted: DayVotes;
  crowded: CrowdedNetwork[];
  isUncertain: boolean;
};
type Weighed = WithId<Pick<Server, 'current' | 'probe' | 'lastReport' | 'voteAllowance'>>;

/**
 * Stores the weights in the counters. After an interruption, the next run weighs the rest. `first`: the first UTC day
 * whose votes are weighed; `weighed`: the days of this run, over all servers.
 *
 * @throws {LeaseLostError} when the lease is lost; the signal's reason when the run must stop
 */
export async function weighVotes(deps: RankingDeps, lease: ActiveLease) {
  const first = await startWeighing(deps);
  const slices = new Map<string, Due[]>();
  let weighed = 0;
  const weigh = async (day: string, slice: Due[]) => {
    lease.throwIfLost();
    weighed += await weighSlice(deps, lease, day, slice);
  };
  await eachDueCounter(deps, first, async ({ due, ...counter }) => {
    for (const { day, ...rest } of due) {
      const slice = slices.get(day) ?? [];
      slices.set(day, slice);
      slice.push({ ...counter, ...rest });
      if (slice.length === SLICE) await weigh(day, slice.splice(0));
    }
  });
  for (const [day, slice] of slices) if (slice.length > 0) await weigh(day, slice);
  return { first, weighed };
}

/** Except removed servers. Returns the number of weighed servers. */
async function weighSlice(deps: RankingDeps, lease: ActiveLease, day: string, slice: Due[]): Promise<number> {
  const due = new Map(slice.map((one) => [one.serverId.toHexString(), one]));
  const projection = { ...CURRENT_PLAYERS, voteAllowance: 1 };
  const servers: Weighed[] = await deps.servers
    .find({ _id: { $in: slice.map(({ serverId }) => serverId) }, removedAt: null })
    .project<Weighed>(projection)
    .toArray();
  const ids = servers.map(({ _id }) => _id);
  const now = deps.clock.now();
  const [votes, crowded, players] = await Promise.all([
    countDayVotes(deps, ids, day),
    crowdedNetworks(deps, ids, day),
    playersSeen(deps, servers, day, day === dayOf(now) ? now : null),
  ]);
  const crowdedOf = Map.groupBy(crowded, ({ serverId }) => serverId.toHexString());
  const many = ids.filter((id) => liveVotes(votes.get(id.toHexString())) > FEWEST);
  const excluded = await withExclusions(deps, many, day);
  const writes: AnyBulkWriteOperation<VoteCounter>[] = [];
  for (const server of servers) {
    lease.throwIfLost();
    const id = server._id.toHexString();
    const one = due.get(id);
    if (!one) continue;
    const seen = players.get(id) ?? null;
    const counted = seen && countedPlayers(seen);
    const weight = await weightOf(deps, server._id, day, {
      counted: votes.get(id) ?? noVotes(),
      crowded: crowdedOf.get(id) ?? [],
      isUncertain: excluded.has(id),
      players: seen,
      allowance: server.voteAllowance?.votes ?? 0,
    });
    const stored: DayWeight = {
      of: one.votes,
      isFinal: one.isFinal,
      players: counted,
      ...(seen && seen.most !== counted ? { seen: seen.most } : {}),
      ...weight,
    };
    writes.push(writeOf(one, day, stored));
  }
  lease.throwIfLost();
  if (writes.length > 0) await deps.voteCounters.bulkWrite(writes, { ordered: false });
  return writes.length;
}

/**
 * If an operator has changed the allowance since the counter was read: the write matches nothing, and the day is due
 * again.
 */
function writeOf(
  { serverId, month, reweighed }: Due,
  day: string,
  stored: DayWeight,
): AnyBulkWriteOperation<VoteCounter> {
  const field = day.slice(8);
  const less = 10 * stored.of - stored.tenths;
  const waiting = (stored.waiting ?? 0) + (stored.unknown ?? 0);
  const set = {
    // Most days are stored as a number, so that counters stay small: a ranking reads all of them.
    [`weighed.${field}`]: stored.isFinal && less === 0 ? stored.of : stored,
    ...(less > 0 ? { [`less.${field}`]: less } : {}),
    ...(waiting > 0 ? { [`waiting.${field}`]: waiting } : {}),
  };
  const unset = {
    ...(less > 0 ? {} : { [`less.${field}`]: true as const }),
    ...(waiting > 0 ? {} : { [`waiting.${field}`]: true as const }),
  };
  return {
    updateOne: {
      filter: { serverId, month, reweighed: reweighed ?? { $exists: false } },
      update: { $set: set, $unset: unset },
    },
  };
}

/**
 * The day's counts are enough if all votes count in full, no network is crowded, and the server has no excluded votes.
 * Otherwise the votes are read one by one.
 */
async function weightOf(
  deps: RankingDeps,
  serverId: ObjectId,
  day: string,
  { counted, crowded, isUncertain, ...known }: Known,
): Promise<ReturnType<typeof weighDay>> {
  const weight = weighDay({ ...counted, ...known });
  const isFull = weight.tenths === 10 * (counted.imported + liveVotes(counted));
  if (crowded.length === 0 && !isUncertain && isFull) return weight;
  return weighDay({ ...(await readVotes(deps, serverId, day, crowded)), ...known });
}

function liveVotes({ form, api }: DayVotes = noVotes()): number {
  return form.regulars + form.newcomers + api.regulars + api.newcomers + api.unknown;
}
