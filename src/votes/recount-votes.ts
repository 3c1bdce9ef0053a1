import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type ObjectId, UUID } from 'mongodb';
import { after, type Clock, DAY, MINUTE, SECOND } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';
import { startOf } from '../periods/period-marks.ts';
import { isImported, type Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { countVotesBetween } from './vote-figures.ts';

export type Recounting = {
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  clock: Clock;
};

/** A day whose counter did not say what the votes say. */
export type Drift = { day: string; counted: number; votes: number };

/** A vote of a day that ended so long ago was counted or lost (design rule 8). */
const DAY_SETTLED_MS = 10 * MINUTE;

/** Two processes' clocks differ by this much at most: each is within 2 s of mongod's. */
export const CLOCKS_DIFFER_MS = 4 * SECOND;

/**
 * So long after its time a vote is inserted and counted, or never will be: it is read in 5 s, its insert is sent in
 * the next 5 s, its count is begun in the first 10 s and sent for the last time in the next 5 s (raise-counter.ts), and
 * each takes 5 s at most before it is given up.
 */
export const VOTE_SETTLED_MS = 20 * SECOND;

/** The moment, on every right clock, by which a vote was inserted; undefined where its time does not tell. */
export function insertedBy(vote: Pick<Vote, 'votedAt' | 'seq'>): Date | undefined {
  return isImported(vote) ? undefined : after(vote.votedAt, VOTE_SETTLED_MS + CLOCKS_DIFFER_MS);
}

/** A recount that has not ended after so long is dead. */
const RECOUNT_DEAD_MS = MINUTE;

type RecountOptions = {
  signal?: AbortSignal;
  /** How long a vote takes to be counted, in milliseconds; `VOTE_SETTLED_MS` by default. */
  settledMs?: number;
  /** By how much the clocks of two processes may differ, in milliseconds; `CLOCKS_DIFFER_MS` by default. */
  clocksDifferMs?: number;
};

/** What a recount waits for, in milliseconds, and what ends it before. */
type Waits = { settledMs: number; clocksDifferMs: number; signal: AbortSignal | undefined };

/** Whether no vote of this UTC day can be counted any more. */
export function isSettledDay(day: string, now: Date): boolean {
  return now.getTime() - startOf(day).getTime() >= DAY + DAY_SETTLED_MS;
}

/**
 * Counts UTC days of a server from its votes, without excluded ones, and puts its counters right. Votes may be
 * cast meanwhile: none is lost, none is counted twice.
 *
 * A day on which votes are being cast takes up to 30 s: a vote that is inserted but not yet counted looks like
 * one whose counting failed, until it must have ended.
 *
 * @param days - `2026-11-21`
 * @returns the days that were wrong
 */
export async function recountVotes(
  deps: Recounting,
  serverId: ObjectId,
  days: string[],
  options: RecountOptions = {},
): Promise<Drift[]> {
  const drifts: Drift[] = [];
  for (const day of days) {
    options.signal?.throwIfAborted();
    const drift = isSettledDay(day, deps.clock.now())
      ? await compareAndSet(deps, serverId, day)
      : await recountOpenDay(deps, serverId, day, options);
    if (drift) drifts.push(drift);
  }
  return drifts;
}

/** Under which a day stands in its counter. */
function place(serverId: ObjectId, day: string) {
  return {
    key: { serverId, month: day.slice(0, 7) },
    field: `days.${day.slice(8)}`,
    dayOfMonth: day.slice(8),
  };
}

/**
 * Sets a day that nobody counts on any more. Compared first all the same: another recount may have read newer
 * exclusions.
 */
async function compareAndSet(deps: Recounting, serverId: ObjectId, day: string): Promise<Drift | null> {
  for (;;) {
    const stood = await readDay(deps, serverId, day);
    const votes = await countDay(deps, serverId, day);
    if ((stood ?? 0) === votes) return null;
    if (await setIfStill(deps, serverId, day, stood, votes)) return { day, counted: stood ?? 0, votes };
  }
}

async function readDay(
  { voteCounters }: Recounting,
  serverId: ObjectId,
  day: string,
): Promise<number | undefined> {
  const { key, dayOfMonth } = place(serverId, day);
  const counter = await voteCounters.findOne(key);
  return counter?.days[dayOfMonth];
}

/** A day's votes of the moments from `from` to before `before`; of all of them by default. */
function countDay(
  { votes }: Recounting,
  serverId: ObjectId,
  day: string,
  { from, before }: { from?: Date; before?: Date } = {},
): Promise<number> {
  const start = startOf(day);
  const end = after(start, DAY);
  const first = from && from > start ? from : start;
  return countVotesBetween(votes, serverId, first, before && before < end ? before : end);
}

/** Sets a day's counter if it still is what was read before the votes were counted. */
async function setIfStill(
  { voteCounters }: Pick<Recounting, 'voteCounters'>,
  serverId: ObjectId,
  day: string,
  stood: number | undefined,
  votes: number,
): Promise<boolean> {
  const { key, field } = place(serverId, day);
  try {
    const { matchedCount, upsertedCount } = await voteCounters.updateOne(
      { ...key, [field]: stood ?? { $exists: false } },
      { $set: { [field]: votes } },
      { upsert: stood === undefined },
    );
    return matchedCount + upsertedCount > 0;
  } catch (error) {
    // The month's counter, or this day in it, was made in the meantime.
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/**
 * Recounts a day on which votes are being cast. Where the newest vote is old enough to have been counted,
 * comparing and setting is exact: a vote that comes later is counted on top, or makes the comparison fail. Else
 * the two sources are parted at a moment that no vote has reached (see `partedRecount`).
 */
async function recountOpenDay(
  deps: Recounting,
  serverId: ObjectId,
  day: string,
  { signal, settledMs = VOTE_SETTLED_MS, clocksDifferMs = CLOCKS_DIFFER_MS }: RecountOptions,
): Promise<Drift | null> {
  for (;;) {
    signal?.throwIfAborted();
    const stood = await readDay(deps, serverId, day);
    const votes = await countDay(deps, serverId, day);
    const unsettled = { $gte: after(deps.clock.now(), -settledMs - clocksDifferMs) };
    if (await deps.votes.findOne({ serverId, votedAt: unsettled }, { projection: { _id: 1 } })) break;
    if ((stood ?? 0) === votes) return null;
    if (await setIfStill(deps, serverId, day, stood, votes)) return { day, counted: stood ?? 0, votes };
  }
  // A process whose clock is ahead is refused by now: no more such votes come, and those that are there have been
  // counted or lost after this.
  if (await hasVotesAhead(deps, serverId, clocksDifferMs)) await pause(settledMs, undefined, { signal });
  for (;;) {
    const drift = await partedRecount(deps, serverId, day, { settledMs, clocksDifferMs, signal });
    if (drift !== 'taken-over') return drift;
  }
}

/** Whether some process dated votes ahead of every right clock. */
async function hasVotesAhead(
  { votes, clock }: Recounting,
  serverId: ObjectId,
  clocksDifferMs: number,
): Promise<boolean> {
  const ahead = { serverId, votedAt: { $gte: after(clock.now(), clocksDifferMs) } };
  return (await votes.findOne(ahead, { projection: { _id: 1 } })) !== null;
}

/**
 * Parts the day at a moment just ahead of every clock: votes before it are counted from the votes, once the
 * last of them must have been inserted; votes from it on by their increments, which note it on the counter
 * (`raiseUnusual`). Votes from it on that are there at the beginning were dated ahead and counted before. All meet in
 * one update.
 */
async function partedRecount(
  deps: Recounting,
  serverId: ObjectId,
  day: string,
  { settledMs, clocksDifferMs, signal }: Waits,
): Promise<Drift | null | 'taken-over'> {
  const id = new UUID();
  const from = await beginRecount(deps, { serverId, day, id }, clocksDifferMs, signal);
  const ahead = await countDay(deps, serverId, day, { from });
  // The slowest clock reaches that moment this much later.
  await pause(2 * clocksDifferMs + settledMs, undefined, { signal });
  const settled = ahead + (await countDay(deps, serverId, day, { before: from }));
  const { key, field, dayOfMonth } = place(serverId, day);
  const before = await deps.voteCounters.findOneAndUpdate(
    { ...key, 'recount.id': id },
    [{ $set: { [field]: { $add: [settled, '$recount.newer'] } } }, { $unset: 'recount' }],
    { returnDocument: 'before' },
  );
  if (!before) return 'taken-over';
  const counted = before.days[dayOfMonth] ?? 0;
  const votes = settled + (before.recount?.newer ?? 0);
  return counted === votes ? null : { day, counted, votes };
}

/** Waits for another recount of this month, then begins; the moment that parts the two sources. */
async function beginRecount(
  { voteCounters, clock }: Recounting,
  { serverId, day, id }: { serverId: ObjectId; day: string; id: UUID },
  clocksDifferMs: number,
  signal: AbortSignal | undefined,
): Promise<Date> {
  const { key, dayOfMonth } = place(serverId, day);
  await voteCounters
    .updateOne(key, { $setOnInsert: { days: {} } }, { upsert: true })
    .catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  const deadSince = { $subtract: ['$$NOW', RECOUNT_DEAD_MS] };
  for (;;) {
    const from = after(clock.now(), clocksDifferMs);
    const { matchedCount } = await voteCounters.updateOne(
      { ...key, $expr: { $lt: [{ $ifNull: ['$recount.startedAt', new Date(0)] }, deadSince] } },
      [{ $set: { recount: { id, day: dayOfMonth, from, newer: 0, startedAt: '$$NOW' } } }],
    );
    if (matchedCount > 0) return from;
    await pause(SECOND, undefined, { signal });
  }
}
