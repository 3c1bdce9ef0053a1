import type { Collection, Document, ObjectId } from 'mongodb';
import { after, DAY, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { VotesDeps } from './deps.ts';
import type { Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { epochMinute, sum } from './vote-counts.ts';
import { countExcludedBetween, countVotesBetween } from './vote-figures.ts';

/** The counter differed from the votes. */
export type Drift = { day: string; counted: number; votes: number };

/** After this no increments of an ended day are written (design rule 8). */
export const DAY_SETTLED_MS = 10 * MINUTE;

/**
 * The increments of a minute are written within this time after its end, or never: the last vote is inserted within
 * 24 s; its increment is collected for 100 ms, and waits up to 5 s twice. The rest is for a stalled mongod.
 */
const MINUTE_SETTLED_MS = MINUTE;

/** Before the settled minutes end, for late increments. */
const COMPARED_AGAIN_MS = 8 * MINUTE;

/** From `from` (inclusive) to `to` (exclusive), whole minutes. */
export type SettledMinutes = { from: Date; to: Date };

/** What every repair compares. */
export function settledMinutes(now: Date): SettledMinutes {
  const to = startOfMinute(after(now, -MINUTE_SETTLED_MS));
  return { from: after(to, -COMPARED_AGAIN_MS), to };
}

function startOfMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE) * MINUTE);
}

/** No more increments of this UTC day are written. */
export function isSettledDay(day: string, now: Date): boolean {
  return now.getTime() - startOfDay(day).getTime() >= DAY + DAY_SETTLED_MS;
}

/**
 * Recounts UTC days (`2026-11-21`) of a server from its votes, without excluded ones, and returns those that were
 * wrong. Votes of settled minutes are counted, and increments of later minutes: so a pending increment counts exactly
 * once, whether it is written before or after the recount (ADR 42). Running it again changes nothing.
 */
export async function recountVotes(
  deps: VotesDeps,
  serverId: ObjectId,
  days: string[],
  { signal }: { signal?: AbortSignal } = {},
): Promise<Drift[]> {
  const drifts: Drift[] = [];
  for (const day of days) {
    const drift = await recountDay(deps, serverId, day, signal);
    if (drift) drifts.push(drift);
  }
  return drifts;
}

/**
 * Of two recounts of a month at once, the second is repeated: it may have counted votes that were excluded meanwhile.
 */
async function recountDay(deps: VotesDeps, serverId: ObjectId, day: string, signal: AbortSignal | undefined) {
  const key = { serverId, month: day.slice(0, 7) };
  for (;;) {
    signal?.throwIfAborted();
    const counter = await deps.voteCounters.findOne(key);
    const counts = await countDay(deps, serverId, day);
    const stood = counter?.days[day.slice(8)] ?? 0;
    if (counts.to <= counts.from && stood === counts.votes) return null;
    const recounts = counter?.recounts ?? 0;
    try {
      const before = await deps.voteCounters.findOneAndUpdate(
        { ...key, recounts: counter?.recounts ?? { $exists: false } },
        [{ $set: { ...setDay(day, counts), recounts: recounts + 1 } }, { $unset: ['raises', 'recount'] }],
        { upsert: counter === null },
      );
      if (counter && !before) continue;
      const counted = before?.days[day.slice(8)] ?? 0;
      const votes = counts.votes + incrementsBetween(before?.minutes, counts.to, counts.end);
      return counted === votes ? null : { day, counted, votes };
    } catch (error) {
      // Another process created the month's counter: the next try changes it.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

type DayCounts = SettledMinutes & {
  /** Until `to`, minus all excluded votes of the day. */
  votes: number;
  /** By minute, excluded ones included. */
  minutes: { k: string; v: number }[];
  end: Date;
};

async function countDay({ votes, clock }: VotesDeps, serverId: ObjectId, day: string): Promise<DayCounts> {
  const start = startOfDay(day);
  const end = after(start, DAY);
  const within = (at: Date) => (at < start ? start : at > end ? end : at);
  const settled = settledMinutes(clock.now());
  const [from, to] = [within(settled.from), within(settled.to)];
  const [older, minutes, excluded] = await Promise.all([
    countVotesBetween(votes, serverId, start, from),
    countMinutes(votes, serverId, from, to),
    countExcludedBetween(votes, serverId, from, end),
  ]);
  return { from, to, end, minutes, votes: older + sum(minutes.map(({ v }) => v)) - excluded };
}

/** Reads the index alone. Excluded votes are included. */
function countMinutes(
  votes: Collection<Vote>,
  serverId: ObjectId,
  from: Date,
  to: Date,
): Promise<{ k: string; v: number }[]> {
  if (to <= from) return Promise.resolve([]);
  const minute = { $floor: { $divide: [{ $toLong: '$votedAt' }, MINUTE] } };
  return votes
    .aggregate<{ k: string; v: number }>(
      [
        { $match: { serverId, votedAt: { $gte: from, $lt: to } } },
        { $group: { _id: minute, v: { $sum: 1 } } },
        { $project: { _id: 0, k: { $toString: { $toLong: '$_id' } }, v: 1 } },
      ],
      { hint: 'serverId_1_votedAt_1' },
    )
    .toArray();
}

/** To `to` (exclusive). */
export function incrementsBetween(minutes: VoteCounter['minutes'], from: Date, to: Date): number {
  const [first, end] = [epochMinute(from), epochMinute(to)];
  const entries = Object.entries(minutes ?? {});
  return sum(entries.filter(([minute]) => first <= minute && minute < end).map(([, votes]) => votes));
}

/** Keeps increments that are written meanwhile. */
function setDay(day: string, { votes, minutes, from, to, end }: DayCounts): Document {
  const increments = { $objectToArray: { $ifNull: ['$minutes', {}] } };
  const filtered = (cond: Document) => ({ $filter: { input: increments, cond } });
  const later = filtered({
    $and: [{ $gte: ['$$this.k', epochMinute(to)] }, { $lt: ['$$this.k', epochMinute(end)] }],
  });
  const others = filtered({
    $or: [{ $lt: ['$$this.k', epochMinute(from)] }, { $gte: ['$$this.k', epochMinute(to)] }],
  });
  return {
    [`days.${day.slice(8)}`]: { $add: [votes, { $sum: { $map: { input: later, in: '$$this.v' } } }] },
    minutes: { $arrayToObject: { $concatArrays: [others, { $literal: minutes }] } },
  };
}
