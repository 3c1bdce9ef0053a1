import type { AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { after, DAY, MINUTE } from '../platform/clock.ts';
import { DayError, dayOf, dueDays, startOfDay } from '../platform/periods/period-marks.ts';
import { lastCompleted, withLease } from '../platform/periods/work-lease.ts';
import type { Progress } from '../platform/progress.ts';
import type { VotesDeps } from './deps.ts';
import {
  DAY_SETTLED_MS,
  type Drift,
  incrementsBetween,
  isSettledDay,
  recountVotes,
  settledMinutes,
} from './recount-votes.ts';
import { serverIdSlices } from './server-id-slices.ts';
import { EXCLUDED_VOTES } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { epochMinute, monthOf } from './vote-counts.ts';

type RepairOptions = { progress?: Progress; signal?: AbortSignal };

/** `servers`: how many were checked. */
export type Repair = { servers: number; drifts: (Drift & { serverId: ObjectId })[] };

/** Settled UTC days that no repair has compared yet, oldest first (design rule 8). */
export function dueRepairs(marks: VotesDeps): Promise<string[]> {
  return dueDays(marks, 'repair-counters', { last: dayOf(after(marks.clock.now(), -DAY - DAY_SETTLED_MS)) });
}

/** More minutes that no repair compares again are removed. */
const OLD_MINUTES_KEPT = 16;

const LEASE = 'repair-counters';

/**
 * For all servers that were ever listed. Can run again, or twice at once.
 *
 * @throws {DayError} `day-not-settled` up to 10 minutes after the day's end: its votes may still be counted
 */
export async function repairCounters(
  deps: VotesDeps,
  day: string,
  options: RepairOptions = {},
): Promise<Repair> {
  if (!isSettledDay(day, deps.clock.now())) {
    throw new DayError(
      'day-not-settled',
      `The counters of ${day} are repaired from ${DAY_SETTLED_MS / MINUTE} minutes after its end on.`,
    );
  }
  const start = startOfDay(day);
  return repairDays(deps, [day], options, async (ids) => {
    const [all, excluded, counters] = await Promise.all([
      countByServer(deps, ids, start, after(start, DAY)),
      countByServer(deps, ids, start, after(start, DAY), EXCLUDED),
      deps.voteCounters.find({ serverId: { $in: ids }, month: day.slice(0, 7) }).toArray(),
    ]);
    const counted = sumByServer(counters, ({ days }) => days[day.slice(8)] ?? 0);
    return ids.filter((id) => at(counted, id) !== at(all, id) - at(excluded, id));
  });
}

/**
 * Repairs days that are not settled, while votes are cast: compares the increments of settled minutes with the votes,
 * from shortly before the last repair on. So it finds within minutes what a crashed process lost. One runs at a time.
 */
export function repairOpenCounters(
  deps: VotesDeps,
  { progress, signal }: RepairOptions = {},
): Promise<Repair> {
  const repair = async ({ signal }: { signal: AbortSignal }) => {
    const now = deps.clock.now();
    const { to } = settledMinutes(now);
    const before = await lastCompleted(deps, LEASE);
    const openSince = startOfDay(dayOf(after(now, -DAY_SETTLED_MS)));
    const last = before && settledMinutes(before).from;
    const from = last && last > openSince ? last : openSince;
    const days = [...new Set([dayOf(from), dayOf(after(to, -MINUTE))])];
    return repairDays(deps, days, { signal, ...(progress ? { progress } : {}) }, async (ids) => {
      const months = [...new Set([monthOf(from), monthOf(to)])];
      const [cast, quarantined, counters] = await Promise.all([
        countByServer(deps, ids, from, to),
        countByServer(deps, ids, from, to, QUARANTINED),
        deps.voteCounters
          .find({ serverId: { $in: ids }, month: { $in: months } }, { projection: { days: 0 } })
          .toArray(),
      ]);
      await forgetMinutes(deps, counters, from);
      const counted = sumByServer(counters, ({ minutes }) => incrementsBetween(minutes, from, to));
      // Quarantined votes always cause a recount. One that ran before such a vote's increment was written subtracted a
      // vote that it had not added, and the minutes do not show this.
      return ids.filter((id) => at(counted, id) !== at(cast, id) || at(quarantined, id) > 0);
    });
  };
  return withLease(deps, LEASE, repair, signal ? { signal } : {});
}

async function repairDays(
  deps: VotesDeps,
  days: string[],
  { progress, signal }: RepairOptions,
  suspectsOf: (serverIds: ObjectId[]) => Promise<ObjectId[]>,
): Promise<Repair> {
  const { servers, log } = deps;
  const total = await servers.estimatedDocumentCount();
  const repair: Repair = { servers: 0, drifts: [] };
  for await (const ids of serverIdSlices(servers)) {
    signal?.throwIfAborted();
    for (const serverId of await suspectsOf(ids)) {
      for (const drift of await recountVotes(deps, serverId, days, signal ? { signal } : {})) {
        repair.drifts.push({ serverId, ...drift });
        log.warn({ event: 'votes.drift', serverId: serverId.toHexString(), ...drift });
      }
    }
    repair.servers += ids.length;
    progress?.(repair.servers, total);
  }
  return repair;
}

const EXCLUDED = { excludedAt: { $gt: new Date(0) } };
const QUARANTINED = { ...EXCLUDED, quarantinedAt: { $exists: true } };

/** To `to` (exclusive): all votes, or only excluded ones. */
async function countByServer(
  { votes }: VotesDeps,
  serverIds: ObjectId[],
  from: Date,
  to: Date,
  excluded: object = {},
): Promise<Map<string, number>> {
  const match = { serverId: { $in: serverIds }, votedAt: { $gte: from, $lt: to }, ...excluded };
  const counts = votes.aggregate<{ _id: ObjectId; votes: number }>(
    [{ $match: match }, { $group: { _id: '$serverId', votes: { $sum: 1 } } }],
    { hint: 'excludedAt' in excluded ? EXCLUDED_VOTES : 'serverId_1_votedAt_1' },
  );
  return new Map(await counts.map((count) => [count._id.toHexString(), count.votes] as const).toArray());
}

function sumByServer<C extends Pick<VoteCounter, 'serverId'>>(
  counters: C[],
  votesOf: (counter: C) => number,
): Map<string, number> {
  const counted = new Map<string, number>();
  for (const counter of counters)
    counted.set(counter.serverId.toHexString(), at(counted, counter.serverId) + votesOf(counter));
  return counted;
}

function at(counts: Map<string, number>, serverId: ObjectId): number {
  return counts.get(serverId.toHexString()) ?? 0;
}

/** No repair compares the minutes before `from` again. */
async function forgetMinutes(
  { voteCounters }: VotesDeps,
  counters: Pick<VoteCounter, 'serverId' | 'month' | 'minutes'>[],
  from: Date,
): Promise<void> {
  const removals = counters.flatMap(({ serverId, month, minutes }): AnyBulkWriteOperation<VoteCounter>[] => {
    const old = Object.keys(minutes ?? {}).filter((minute) => minute < epochMinute(from));
    if (old.length <= OLD_MINUTES_KEPT) return [];
    const $unset = Object.fromEntries(old.map((minute) => [`minutes.${minute}`, true as const]));
    return [{ updateOne: { filter: { serverId, month }, update: { $unset } } }];
  });
  if (removals.length > 0) await voteCounters.bulkWrite(removals, { ordered: false });
}
