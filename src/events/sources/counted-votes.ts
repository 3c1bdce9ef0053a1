import type { ObjectId } from 'mongodb';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import { MAJORITY } from '../../platform/mongo.ts';
import { CLOCKS_DIFFER_MS, VOTE_SETTLED_MS } from '../../votes/cast/insert-vote.ts';
import type { Vote } from '../../votes/vote.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { type NewEvent, storeEvents } from '../store-events.ts';
import { MOST_WAITING } from '../subscription.ts';
import { continued, countMonthBefore, type MonthCount } from './month-numbers.ts';

const BY_TIME = 'serverId_1_votedAt_1';
const BATCH = 1_000;
/** A look that begins further back may meet more votes than a subscription can wait for. */
const LONG_AGO_MS = 5 * MINUTE;
const LONGEST_READ_MS = 10 * SECOND;

type CountedVote = Pick<Vote, '_id' | 'votedAt'>;

/** What a process remembers of a server, so that it stores and counts nothing twice. */
export type SeenVotes = {
  /** When each vote was cast that may be read again and has its event, by id. */
  stored: Map<string, Date>;
  month: MonthCount | null;
};

/** Votes that were cast before this are inserted, or never will be. */
export function settledAt(now: Date): Date {
  return after(now, -(VOTE_SETTLED_MS + CLOCKS_DIFFER_MS));
}

/**
 * Stores the events of votes that count and were cast at `from` or later, at most the newest 10,000: more do not wait
 * for a subscription. Yields the number of new ones after each 1,000 votes, so that a server with many lets others go
 * first. Each vote has its number in its month at this moment: a late one does not change those that are stored.
 */
export async function* storeCountedVotes(
  deps: EventsDeps,
  serverId: ObjectId,
  { from, now }: { from: Date; now: Date },
  seen: SeenVotes,
): AsyncGenerator<number> {
  const settled = settledAt(now);
  const begin = await notTooFarBack(deps, serverId, from, now);
  // Of all votes before the next one, and of those that no late vote can come before.
  let month = seen.month?.before.getTime() === begin.getTime() ? seen.month : null;
  let settledMonth = month;
  for await (const batch of countedVotes(deps, serverId, begin)) {
    month ??= settledMonth = await countMonthBefore(deps, serverId, begin);
    const events: NewEvent[] = [];
    for (const { _id, votedAt } of batch) {
      month = { before: votedAt, votes: continued(month, votedAt).votes + 1 };
      if (votedAt < settled) settledMonth = month;
      if (!seen.stored.has(_id.toString())) events.push(countedEvent({ _id, votedAt }, month.votes));
    }
    await storeEvents(deps, serverId, events);
    for (const { _id, votedAt } of batch) seen.stored.set(_id.toString(), votedAt);
    yield events.length;
  }
  const until = settled > begin ? settled : begin;
  seen.month = settledMonth && continued(settledMonth, until);
  for (const [id, votedAt] of seen.stored) if (votedAt < until) seen.stored.delete(id);
}

/** `again`: the decision by which it counts once more. */
export function countedEvent(
  { _id, votedAt }: CountedVote,
  monthlyVotes: number,
  { at = votedAt, again = '' }: { at?: Date; again?: string } = {},
): NewEvent {
  return {
    _id: eventIdOf('vote.counted', `${_id.toString()}${again}`),
    type: 'vote.counted',
    at,
    of: votedAt,
    voteId: _id,
    data: { monthly_votes: monthlyVotes, voted_at: votedAt.toISOString() },
  };
}

async function notTooFarBack(
  { votes }: EventsDeps,
  serverId: ObjectId,
  from: Date,
  now: Date,
): Promise<Date> {
  if (from > after(now, -LONG_AGO_MS)) return from;
  const [first] = await votes
    .find(
      { serverId, votedAt: { $gte: from } },
      { sort: { votedAt: -1 }, skip: MOST_WAITING - 1, limit: 1, projection: { _id: 0, votedAt: 1 } },
    )
    .toArray();
  return first?.votedAt ?? from;
}

/** Without excluded, held and imported ones. */
async function* countedVotes(
  { votes }: EventsDeps,
  serverId: ObjectId,
  from: Date,
): AsyncGenerator<CountedVote[]> {
  const counted = { serverId, votedAt: { $gte: from }, seq: { $gt: 0 }, excludedAt: { $exists: false } };
  const cursor = votes.find<CountedVote>(counted, {
    ...MAJORITY,
    sort: { votedAt: 1 },
    hint: BY_TIME,
    projection: { votedAt: 1 },
    batchSize: BATCH,
    maxTimeMS: LONGEST_READ_MS,
  });
  let batch: CountedVote[] = [];
  for await (const vote of cursor) {
    batch.push(vote);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
