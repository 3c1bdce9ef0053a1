import { type Collection, type Document, ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { ReviewList } from '../../src/reviews/review.ts';
import { deliveredVote } from './votes.ts';

/** The number of documents of each kind for one server. */
export type Amounts = { votes: number; months: number; samples: number; reviews: number; keys: number };

const BATCH = 5_000;

async function insertAll<T extends Document>(collection: Collection<T>, documents: T[]): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH) {
    await collection.insertMany(documents.slice(at, at + BATCH) as never, { ordered: false });
  }
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Fills the collections that requests read with a history of `servers`, which ends 2 days before `now`. */
export async function addHistory(
  deps: AppDeps,
  servers: ObjectId[],
  now: Date,
  amounts: Amounts,
): Promise<void> {
  const newest = after(now, -2 * DAY);
  const each = <T>(count: number, make: (serverId: ObjectId, i: number) => T) =>
    servers.flatMap((serverId) => times(count, (i) => make(serverId, i)));

  await insertAll(
    deps.votes,
    each(amounts.votes, (serverId, i) =>
      // Half of the votes are by one player, one a day.
      i % 2
        ? deliveredVote(serverId, `player ${i}`, after(newest, -i * HOUR))
        : deliveredVote(serverId, 'steve', after(newest, -i * DAY), { seq: amounts.votes - i }),
    ),
  );
  await insertAll(
    deps.voteCounters,
    each(amounts.months, (serverId, i) => ({
      _id: new ObjectId(),
      serverId,
      month: after(now, -(i + 1) * 31 * DAY)
        .toISOString()
        .slice(0, 7),
      days: { '01': 3, '15': 4 },
    })).filter(
      ({ serverId, month }, i, all) =>
        !(all[i - 1]?.month === month && all[i - 1]?.serverId.equals(serverId)),
    ),
  );
  await insertAll(
    deps.statusSamples,
    each(amounts.samples, (serverId, i) => ({
      at: after(newest, -i * HOUR),
      serverId,
      source: 'report' as const,
      seconds: 0,
      status: 'online' as const,
      onlinePlayers: i,
      maxPlayers: 100,
      latencyMs: 20,
    })),
  );
  await insertAll(
    deps.idempotencyKeys,
    each(amounts.keys, (serverId, i) => ({
      _id: new ObjectId(),
      serverId,
      key: `key ${i}`,
      username: `player ${i}`,
      voteId: new UUID(uuidv7()),
      expiresAt: after(now, HOUR),
      answer: '{}',
    })),
  );
  await addReviews(deps, servers, newest, amounts.reviews);
}

async function addReviews(
  { reviews, reviewLists }: AppDeps,
  servers: ObjectId[],
  newest: Date,
  count: number,
): Promise<void> {
  const lists: ReviewList[] = servers.map((_id) => ({
    _id,
    count,
    ratingSum: 4 * count,
    entries: times(count, (i) => ({ id: new ObjectId(), at: after(newest, -i * HOUR) })),
  }));
  await insertAll(reviewLists, lists);
  await insertAll(
    reviews,
    lists.flatMap(({ _id: serverId, entries }) =>
      entries.map(({ id, at }) => ({
        _id: id,
        serverId,
        username: 'Steve',
        rating: 4,
        state: 'approved' as const,
        createdAt: at,
        moderatedAt: at,
      })),
    ),
  );
}
