import { type Collection, type Document, type Filter, ObjectId, type UpdateFilter } from 'mongodb';
import { isDuplicateKey, OPERATION_TIMEOUT_MS } from '../mongo.ts';
import type { VoteCounter } from './vote-counter.ts';
import { dayOf, monthOf, sum } from './vote-figures.ts';

/**
 * So many raises stand on a counter. One is found again unless so many others were made between our writing and our
 * reading. Behind a slow MongoDB each process has up to 16 batches under way (lanes.ts), and those whose raise is gone
 * would count a month of votes there.
 */
export const RAISES_KEPT = 32;

/**
 * A raise is sent within so long of its batch's beginning, or not at all: a recount waits for those under way and
 * counts from the votes what came no later (recount-votes.ts).
 */
const SENT_WITHIN_MS = OPERATION_TIMEOUT_MS;

/** Votes of one server and UTC day that raise its counter. */
export type Raise = {
  /** Stands on the counter, so that no raise is made twice and each finds what it made of the month. */
  id: ObjectId;
  serverId: ObjectId;
  month: string;
  day: string;
  votedAt: Date[];
};

export function newRaise(serverId: ObjectId, votedAt: Date): Raise {
  return { id: new ObjectId(), serverId, month: monthOf(votedAt), day: dayOf(votedAt), votedAt: [votedAt] };
}

/** The counter, while the raise does not stand on it yet. */
function unraised({ id, serverId, month }: Raise): Filter<VoteCounter> {
  return { serverId, month, 'raises.id': { $ne: id } };
}

/** One increment and one note, where the counter is there and nobody recounts it: which is nearly always. */
export function plainRaise(raise: Raise): { q: Filter<VoteCounter>; u: UpdateFilter<VoteCounter> } {
  const { id, day, votedAt } = raise;
  const votes = votedAt.length;
  return {
    q: { ...unraised(raise), recount: { $exists: false } },
    u: {
      $inc: { [`days.${day}`]: votes },
      $push: { raises: { $each: [{ id, votes }], $slice: -RAISES_KEPT } },
    } as UpdateFilter<VoteCounter>,
  };
}

/** The same as an expression, which also tells a recount that is under way. */
function raiseBesideRecount({ id, day, votedAt }: Raise): Document[] {
  const votes = votedAt.length;
  // A recount of this day counts the votes from its moment on by itself.
  const recounted = { $and: [{ $eq: ['$recount.day', day] }, { $gt: ['$recount.from', null] }] };
  const newer = { $size: { $filter: { input: votedAt, cond: { $gte: ['$$this', '$recount.from'] } } } };
  const noted = { $mergeObjects: ['$recount', { newer: { $add: ['$recount.newer', newer] } }] };
  const raises = { $concatArrays: [{ $ifNull: ['$raises', []] }, [{ id, votes }]] };
  return [
    {
      $set: {
        [`days.${day}`]: { $add: [{ $ifNull: [`$days.${day}`, 0] }, votes] },
        raises: { $slice: [raises, -RAISES_KEPT] },
        recount: { $cond: [recounted, noted, '$recount'] },
      },
    },
  ];
}

/** What the month had come to with `raise`; undefined where it does not stand on the counter (any more). */
export function totalWith(
  { id }: Pick<Raise, 'id'>,
  { days, raises = [] }: Pick<VoteCounter, 'days' | 'raises'>,
): number | undefined {
  const at = raises.findIndex((raise) => raise.id.equals(id));
  if (at < 0) return undefined;
  return sum(Object.values(days)) - sum(raises.slice(at + 1).map(({ votes }) => votes));
}

/**
 * Raises a counter and gives what its month has come to: each caller its own number, since the increment and the
 * reading are one operation (design rule 8).
 *
 * @throws the driver's error when MongoDB fails
 */
export async function raiseCounter(voteCounters: Collection<VoteCounter>, raise: Raise): Promise<number> {
  const { q, u } = plainRaise(raise);
  const began = performance.now();
  const after = { returnDocument: 'after', projection: { days: 1 } } as const;
  const counter = await voteCounters.findOneAndUpdate(q, u, after);
  return counter ? sum(Object.values(counter.days)) : raiseUnusual(voteCounters, raise, began);
}

/**
 * Where there is no counter yet, a recount is under way, or the raise was made before.
 *
 * @param began - when its batch began, on `performance.now()`
 * @throws an error where that was too long ago, the driver's when MongoDB fails
 */
export async function raiseUnusual(
  voteCounters: Collection<VoteCounter>,
  raise: Raise,
  began: number,
): Promise<number> {
  const { serverId, month } = raise;
  for (let tries = 0; ; tries += 1) {
    if (performance.now() - began > SENT_WITHIN_MS) throw new Error('its counter was not raised in time');
    try {
      const counter = await voteCounters.findOneAndUpdate(unraised(raise), raiseBesideRecount(raise), {
        upsert: true,
        returnDocument: 'after',
      });
      if (counter) return sum(Object.values(counter.days));
    } catch (error) {
      // It stands already, or two first votes of a month both tried to insert the counter.
      if (!isDuplicateKey(error) || tries > 0) throw error;
      const counter = await voteCounters.findOne({ serverId, month });
      const total = counter && totalWith(raise, counter);
      if (typeof total === 'number') return total;
    }
  }
}
