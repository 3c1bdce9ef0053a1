import type { ObjectId } from 'mongodb';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import { MAJORITY } from '../../platform/mongo.ts';
import { settledAt } from '../../votes/cast/insert-vote.ts';
import type { Vote } from '../../votes/vote.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { type NewEvent, type OfServer, storeEvents, storeEventsOf } from '../store-events.ts';
import { MOST_WAITING } from '../subscription.ts';
import { continued, countMonthsBefore, type MonthCount } from './month-numbers.ts';
import type { WatchedServer } from './watched-servers.ts';

const BY_TIME = 'serverId_1_votedAt_1';
const BATCH = 1_000;
/** A look that begins further back may meet more votes than a subscription can wait for. */
export const LONG_AGO_MS = 5 * MINUTE;
const LONGEST_READ_MS = 10 * SECOND;

type CountedVote = Pick<Vote, '_id' | 'votedAt'>;

/** What a process remembers of a server, so that it stores and counts nothing twice. */
export type SeenVotes = {
  /** When each vote was cast that may be read again and was seen, by id. */
  votes: Map<string, Date>;
  /** Before the votes that are read again. Null if it must be counted. */
  month: MonthCount | null;
  /** Somebody wanted them in the last look. */
  wasWanted: boolean;
};

/** By server. */
export type VoteMemory = Map<string, SeenVotes>;

export function seenIn(memory: VoteMemory, id: string): SeenVotes {
  const seen = memory.get(id) ?? { votes: new Map(), month: null, wasWanted: false };
  memory.set(id, seen);
  return seen;
}

/** There were no votes in between, or another look would have found them. */
function isUsable(month: MonthCount | null, from: Date): month is MonthCount {
  return month !== null && month.before <= from;
}

/** `from`: events of earlier votes are stored. */
export type VoteRange = { from: Date; now: Date };

/**
 * Stores the events of votes that count and were cast at `from` or later: in one query each for all servers. Each vote
 * has its number in its month at this moment; a late one does not change those that are stored. Returns the number of
 * new votes by server, also of servers whose votes nobody wants.
 */
export async function storeNewVotes(
  deps: EventsDeps,
  servers: Map<string, Pick<WatchedServer, 'serverId' | 'wantsVotes'>>,
  { from, now }: VoteRange,
  memory: VoteMemory,
): Promise<Map<string, number>> {
  const ids = [...servers.values()].map(({ serverId }) => serverId);
  const found = await countedVotes(deps, ids, from).toArray();
  const byServer = Map.groupBy(found, ({ serverId }) => serverId.toHexString());
  for (const [id, { wantsVotes }] of servers) {
    const seen = seenIn(memory, id);
    // A subscription may have begun after the votes of the last look were chosen, and before they were cast.
    if (wantsVotes && !seen.wasWanted) seen.votes.clear();
    seen.wasWanted = wantsVotes;
  }
  const active = [...byServer].map(([id, votes]) => ({
    votes,
    seen: seenIn(memory, id),
    server: servers.get(id),
  }));
  const uncounted = active.flatMap(({ seen, server }) =>
    server?.wantsVotes && !isUsable(seen.month, from) ? [server.serverId] : [],
  );
  const counts = uncounted.length > 0 ? await countMonthsBefore(deps, uncounted, from) : null;
  const numbered = active.map(({ votes, seen, server }) => {
    const [{ serverId }] = votes as [CountedVote & Pick<Vote, 'serverId'>];
    const month = isUsable(seen.month, from)
      ? continued(seen.month, from)
      : (counts?.(serverId) ?? { before: from, votes: 0 });
    const numbering = { seen, settled: settledAt(now), month, settledMonth: month };
    const events = eventsOf(votes, numbering).map((event): OfServer => ({ ...event, serverId }));
    return { votes, numbering, events, isWanted: server?.wantsVotes };
  });
  await storeEventsOf(
    deps,
    numbered.flatMap(({ isWanted, events }) => (isWanted ? events : [])),
  );
  for (const { votes, numbering, isWanted } of numbered) {
    remember(votes, numbering);
    if (!isWanted) numbering.seen.month = null;
  }
  for (const id of servers.keys()) forgetSettled(seenIn(memory, id), settledAt(now));
  return new Map(
    numbered.flatMap(({ votes: [first], events }) =>
      first && events.length > 0 ? [[first.serverId.toHexString(), events.length]] : [],
    ),
  );
}

/**
 * As `storeNewVotes`, of one server, from any time on: at most the newest 10,000, as more do not wait for a
 * subscription. Yields the number of new ones after each 1,000 votes, so that others can go first.
 */
export async function* catchUp(
  deps: EventsDeps,
  serverId: ObjectId,
  { from, now }: VoteRange,
  seen: SeenVotes,
): AsyncGenerator<number> {
  const begin = await notTooFarBack(deps, serverId, from, now);
  const settled = settledAt(now);
  let numbering: Numbering | undefined;
  for await (const batch of inBatches(countedVotes(deps, [serverId], begin))) {
    const month = numbering?.month ?? (await countMonthsBefore(deps, [serverId], begin))(serverId);
    numbering ??= { seen, settled, month, settledMonth: month };
    const events = eventsOf(batch, numbering);
    await storeEvents(deps, serverId, events);
    remember(batch, numbering);
    yield events.length;
  }
  // If it began later than the next look will: that one reads votes before these.
  if (begin > settled) seen.month = null;
  forgetSettled(seen, settled);
}

type Numbering = {
  seen: SeenVotes;
  settled: Date;
  /** Of all votes before the next one. */
  month: MonthCount;
  /** Of those that no late vote can come before. */
  settledMonth: MonthCount;
};

/** In the order of their times. */
function eventsOf(votes: CountedVote[], numbering: Numbering): NewEvent[] {
  const events: NewEvent[] = [];
  for (const { _id, votedAt } of votes) {
    numbering.month = { before: votedAt, votes: continued(numbering.month, votedAt).votes + 1 };
    if (votedAt < numbering.settled) numbering.settledMonth = numbering.month;
    if (!numbering.seen.votes.has(_id.toString()))
      events.push(countedEvent({ _id, votedAt }, numbering.month.votes));
  }
  return events;
}

function remember(votes: CountedVote[], { seen, settled, settledMonth }: Numbering): void {
  for (const { _id, votedAt } of votes) seen.votes.set(_id.toString(), votedAt);
  seen.month = continued(settledMonth, settled);
}

function forgetSettled({ votes }: SeenVotes, settled: Date): void {
  for (const [id, votedAt] of votes) if (votedAt < settled) votes.delete(id);
}

/** `at`: when a decision lets it count; `of`: as `NewEvent`; `again`: that decision, if it counted before. */
export function countedEvent(
  { _id, votedAt }: CountedVote,
  monthlyVotes: number,
  { at = votedAt, of = votedAt, again = '' }: { at?: Date; of?: Date; again?: string } = {},
): NewEvent {
  return {
    _id: eventIdOf('vote.counted', `${_id.toString()}${again}`),
    type: 'vote.counted',
    at,
    of,
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

/** Without excluded, held and imported ones; of each server in the order of their times. */
function countedVotes({ votes }: EventsDeps, serverIds: ObjectId[], from: Date) {
  const serverId = anyOf(serverIds);
  const counted = { serverId, votedAt: { $gte: from }, seq: { $gt: 0 }, excludedAt: { $exists: false } };
  return votes.find<CountedVote & Pick<Vote, 'serverId'>>(counted, {
    ...MAJORITY,
    sort: { serverId: 1, votedAt: 1 },
    hint: BY_TIME,
    projection: { serverId: 1, votedAt: 1 },
    batchSize: BATCH,
    maxTimeMS: LONGEST_READ_MS,
  });
}

async function* inBatches<T>(all: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const one of all) {
    batch.push(one);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
