import type { Collection, ObjectId, WithId } from 'mongodb';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after, DAY } from '../platform/clock.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import type { ReviewsDeps } from './deps.ts';
import type { Review, ReviewList, ReviewState } from './review.ts';

/** The maximum offset of `$slice`: MongoDB takes a 32-bit number. */
const FURTHEST = 2 ** 31 - 1;

/** A slice of the list, then the reviews by their ids: the last page costs as much as the first. `page` is from 1. */
export async function readReviews(
  deps: ReviewsDeps,
  serverId: ObjectId,
  { page, limit }: { page: number; limit: number },
) {
  const { spread: _, reviews, ...figures } = await readAnswered(deps, serverId, { page, limit });
  return {
    ...figures,
    reviews: reviews.map(({ username, rating, content, createdAt }) => ({
      username,
      rating,
      ...(content ? { content } : {}),
      createdAt,
    })),
  };
}

/** With the owner's answers, and the number of reviews for each rating from 1 to 5. */
export async function readAnswered(
  { reviews, reviewLists, batcher }: ReviewsDeps,
  serverId: ObjectId,
  { page, limit }: { page: number; limit: number },
) {
  const begin = Math.min((page - 1) * limit, FURTHEST);
  const list = await batcher.load(listsLoader, reviewLists, { serverId, begin, limit });
  const total = list?.count ?? 0;
  return {
    reviewCount: total,
    // At most two decimals.
    averageRating: list && total > 0 ? Math.round((100 * list.ratingSum) / total) / 100 : 0,
    reviews: await batcher.load(approvedReviewsLoader, reviews, list?.entries.map(({ id }) => id) ?? []),
    total,
    totalPages: Math.ceil(total / limit),
    spread: [1, 2, 3, 4, 5].map((stars) => list?.spread?.[stars] ?? 0),
  };
}

type Slicing = { serverId: ObjectId; begin: number; limit: number };

/** Requests for the same slice share one query. */
const listsLoader: BatchLoader<Collection<ReviewList>, Slicing, ReviewList | null> = {
  most: 200,
  async load(reviewLists, wanted) {
    const slices = Map.groupBy(wanted, ({ begin, limit }) => `${begin} ${limit}`);
    const found = new Map<Slicing, ReviewList>();
    const read = async (alike: Slicing[]) => {
      const [{ begin, limit } = { begin: 0, limit: 1 }] = alike;
      const ids = new Map(alike.map(({ serverId }) => [serverId.toHexString(), serverId]));
      const entries = { $slice: [begin, limit] };
      const lists = await reviewLists
        .find(
          { _id: anyOf([...ids.values()]) },
          { projection: { count: 1, ratingSum: 1, spread: 1, entries } },
        )
        .toArray();
      const byServer = new Map(lists.map((list) => [list._id.toHexString(), list]));
      for (const one of alike) {
        const list = byServer.get(one.serverId.toHexString());
        if (list) found.set(one, list);
      }
    };
    await Promise.all([...slices.values()].map(read));
    return wanted.map((one) => found.get(one) ?? null);
  },
};

/** A listed review that is not approved any more is left out. */
const approvedReviewsLoader: BatchLoader<Collection<Review>, ObjectId[], WithId<Review>[]> = {
  most: 50,
  async load(reviews, wanted) {
    const ids = new Map(wanted.flat().map((id) => [id.toHexString(), id]));
    if (ids.size === 0) return wanted.map(() => []);
    const found = await reviews.find({ _id: { $in: [...ids.values()] }, state: 'approved' }).toArray();
    const byId = new Map(found.map((review) => [review._id.toHexString(), review]));
    return wanted.map((own) => own.flatMap((id) => byId.get(id.toHexString()) ?? []));
  },
};

/** Reviews for moderation, newest first. */
export function listReviews(
  { reviews }: ReviewsDeps,
  serverId: ObjectId,
  { state, limit }: { state?: ReviewState; limit: number },
): Promise<WithId<Review>[]> {
  return reviews
    .find({ serverId, ...(state ? { state } : {}) })
    .sort({ createdAt: -1 })
    .limit(limit)
    .toArray();
}

/** For moderation. Pending reviews: the oldest first, unless `newestFirst`. Others: the newest decision first. */
export function listReviewsInState(
  { reviews }: ReviewsDeps,
  state: ReviewState,
  { from, limit, newestFirst = false }: { from: string | undefined; limit: number; newestFirst?: boolean },
): Promise<Slice<WithId<Review>>> {
  const by =
    state === 'pending'
      ? ({ field: 'createdAt', direction: newestFirst ? -1 : 1 } as const)
      : ({ field: 'moderatedAt', direction: -1 } as const);
  return readSlice(reviews, { filter: { state }, by, from, limit });
}

const ANSWERED_WITHIN_MS = 30 * DAY;
const LOOKED_AT = 20;

/**
 * By the id of the server, in hex: how many of its newest approved reviews, at most 20 of the last 30 days, have a text
 * and no answer. Two queries for all servers. No index has answers, so other reviews are not looked at.
 */
export async function countUnanswered(
  { reviews, reviewLists, clock }: Pick<ReviewsDeps, 'reviews' | 'reviewLists' | 'clock'>,
  serverIds: ObjectId[],
): Promise<Map<string, number>> {
  const since = after(clock.now(), -ANSWERED_WITHIN_MS);
  const lists = await reviewLists
    .find({ _id: anyOf(serverIds) }, { projection: { count: 1, entries: { $slice: LOOKED_AT } } })
    .toArray();
  const newest = lists.flatMap(({ entries }) => entries.filter(({ at }) => at >= since));
  if (newest.length === 0) return new Map();
  const isOpen = { $and: [{ $gt: ['$content', null] }, { $lte: ['$answer', null] }] };
  const found = await reviews
    .find({ _id: { $in: newest.map(({ id }) => id) }, state: 'approved' })
    .project<{ serverId: ObjectId; isOpen: boolean }>({ _id: 0, serverId: 1, isOpen })
    .toArray();
  const open = Map.groupBy(
    found.filter((one) => one.isOpen),
    ({ serverId }) => serverId.toHexString(),
  );
  return new Map([...open].map(([id, of]) => [id, of.length]));
}
