import type { Collection, Document, ObjectId } from 'mongodb';
import { after, type Clock, DAY, MINUTE, SECOND } from '../platform/clock.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { startOf } from '../platform/periods/period-marks.ts';
import { isImported, type Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { countExcludedBetween, countVotesBetween, minuteOf, sum } from './vote-figures.ts';

export type Recounting = {
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  clock: Clock;
};

/** A day whose counter did not say what the votes say. */
export type Drift = { day: string; counted: number; votes: number };

/** A vote of a day that ended so long ago was counted or lost (design rule 8). */
export const DAY_SETTLED_MS = 10 * MINUTE;

/** Two processes' clocks differ by this much at most: each is within 2 s of mongod's. */
export const CLOCKS_DIFFER_MS = 4 * SECOND;

/**
 * So long after its time a vote is inserted, or never will be: it is read in 5 s, its insert is sent in the next 5 s,
 * and each takes 5 s at most before it is given up.
 */
export const VOTE_SETTLED_MS = 20 * SECOND;

/** The moment, on every right clock, by which a vote was inserted; undefined where its time does not tell. */
export function insertedBy(vote: Pick<Vote, 'votedAt' | 'seq'>): Date | undefined {
  return isImported(vote) ? undefined : after(vote.votedAt, VOTE_SETTLED_MS + CLOCKS_DIFFER_MS);
}

/**
 * So long after its end the increments of a minute are written, or never will be: its last vote is inserted within 24 s,
 * its batch waits for the one before and is sent (100 ms and twice 5 s). The rest is for a mongod that stands still.
 */
const MINUTE_SETTLED_MS = MINUTE;

/** So many minutes before the newest settled one are compared again each time: what came later still is found there. */
const COMPARED_AGAIN_MS = 8 * MINUTE;

/** The minutes whose increments can be told from those under way: from `from` to before `to`, both whole minutes. */
export type SettledMinutes = { from: Date; to: Date };

/** The settled minutes that are to be compared at `now`. */
export function settledMinutes(now: Date): SettledMinutes {
  const to = startOfMinute(after(now, -MINUTE_SETTLED_MS));
  return { from: after(to, -COMPARED_AGAIN_MS), to };
}

function startOfMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE) * MINUTE);
}

/** Whether no vote of this UTC day can be counted any more. */
export function isSettledDay(day: string, now: Date): boolean {
  return now.getTime() - startOf(day).getTime() >= DAY + DAY_SETTLED_MS;
}

/**
 * Counts UTC days of a server from its votes, without excluded ones, and puts its counters right, at once. Votes may be
 * cast meanwhile: none is lost, none is counted twice. Running it again changes nothing.
 *
 * Votes of settled minutes are counted from the votes, those of later minutes are what their increments say. An
 * increment that is pending or under way therefore comes on top, whenever it is written (ADR 42).
 *
 * @param days - `2026-11-21`
 * @returns the days that were wrong
 */
export async function recountVotes(
  deps: Recounting,
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

/** Another recount of the same month may read newer exclusions: of two at once one is done again. */
async function recountDay(
  deps: Recounting,
  serverId: ObjectId,
  day: string,
  signal: AbortSignal | undefined,
): Promise<Drift | null> {
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
      // The month's counter was made in the meantime.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** A day as its votes say. */
type DayCounts = SettledMinutes & {
  /** Those of settled minutes, less every excluded one that they or later minutes have. */
  votes: number;
  /** Votes of the minutes from `from` to before `to`, excluded ones included. */
  minutes: { k: string; v: number }[];
  end: Date;
};

async function countDay({ votes, clock }: Recounting, serverId: ObjectId, day: string): Promise<DayCounts> {
  const start = startOf(day);
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

/** A server's votes by minute, excluded ones included; from the index alone. */
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

/** Increments of the minutes from `from` to before `to`. */
export function incrementsBetween(minutes: VoteCounter['minutes'], from: Date, to: Date): number {
  const [first, end] = [minuteOf(from), minuteOf(to)];
  const entries = Object.entries(minutes ?? {});
  return sum(entries.filter(([minute]) => first <= minute && minute < end).map(([, votes]) => votes));
}

/** Sets a day, whatever increments are written until then. */
function setDay(day: string, { votes, minutes, from, to, end }: DayCounts): Document {
  const increments = { $objectToArray: { $ifNull: ['$minutes', {}] } };
  const filtered = (cond: Document) => ({ $filter: { input: increments, cond } });
  const later = filtered({
    $and: [{ $gte: ['$$this.k', minuteOf(to)] }, { $lt: ['$$this.k', minuteOf(end)] }],
  });
  const others = filtered({
    $or: [{ $lt: ['$$this.k', minuteOf(from)] }, { $gte: ['$$this.k', minuteOf(to)] }],
  });
  return {
    [`days.${day.slice(8)}`]: { $add: [votes, { $sum: { $map: { input: later, in: '$$this.v' } } }] },
    minutes: { $arrayToObject: { $concatArrays: [others, { $literal: minutes }] } },
  };
}
