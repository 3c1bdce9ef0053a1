import type { Collection, ObjectId, WithId } from 'mongodb';
import { readOn, type Slice } from '../slices.ts';
import type { Review, ReviewList, ReviewState } from './review.ts';

/** One page of a server's approved reviews, newest first, and the figures over all of them. */
export type ReviewPage<R> = {
  reviewCount: number;
  /** At most two decimals; 0 when there is no review. */
  averageRating: number;
  reviews: R[];
  total: number;
  totalPages: number;
};

/** What the API shows of a review. */
export type PublicReview = { username: string; rating: number; content?: string; createdAt: Date };

/** The furthest entry that a slice may begin at: MongoDB takes a 32-bit number. */
const FURTHEST = 2 ** 31 - 1;

type Reading = { reviews: Collection<Review>; reviewLists: Collection<ReviewList> };

/**
 * Reads a page of a server's approved reviews: one slice of the server's list and one read by ids, so that a
 * page far back costs no more than the first (see review.ts).
 *
 * @param page - counted from 1; one past the end is empty
 * @param limit - reviews a page
 */
export async function readReviews(
  deps: Reading,
  serverId: ObjectId,
  { page, limit }: { page: number; limit: number },
): Promise<ReviewPage<PublicReview>> {
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

/** The same with the owner's answers, and with how many gave each number of stars, from 1 to 5. */
export async function readAnswered(
  { reviews, reviewLists }: Reading,
  serverId: ObjectId,
  { page, limit }: { page: number; limit: number },
): Promise<ReviewPage<WithId<Review>> & { spread: number[] }> {
  const begin = Math.min((page - 1) * limit, FURTHEST);
  const list = await reviewLists.findOne(
    { _id: serverId },
    { projection: { count: 1, ratingSum: 1, spread: 1, entries: { $slice: [begin, limit] } } },
  );
  const total = list?.count ?? 0;
  return {
    reviewCount: total,
    averageRating: list && total > 0 ? Math.round((100 * list.ratingSum) / total) / 100 : 0,
    reviews: await approvedReviews(reviews, list?.entries.map(({ id }) => id) ?? []),
    total,
    totalPages: Math.ceil(total / limit),
    spread: [1, 2, 3, 4, 5].map((stars) => list?.spread?.[stars] ?? 0),
  };
}

/** In the order of `ids`. One rejected a moment ago, and still in its list, is left out. */
async function approvedReviews(reviews: Collection<Review>, ids: ObjectId[]): Promise<WithId<Review>[]> {
  if (ids.length === 0) return [];
  const found = await reviews.find({ _id: { $in: ids }, state: 'approved' }).toArray();
  const byId = new Map(found.map((review) => [review._id.toHexString(), review]));
  return ids.flatMap((id) => byId.get(id.toHexString()) ?? []);
}

/** A server's reviews in any state or in one, newest first, for those who moderate them. */
export function listReviews(
  { reviews }: { reviews: Collection<Review> },
  serverId: ObjectId,
  { state, limit }: { state?: ReviewState; limit: number },
): Promise<WithId<Review>[]> {
  return reviews
    .find({ serverId, ...(state ? { state } : {}) })
    .sort({ createdAt: -1 })
    .limit(limit)
    .toArray();
}

/**
 * A slice of the reviews of all servers in one state, for those who moderate them: of the pending ones the longest
 * waiting first, of the others the newest decision first.
 */
export function listReviewsInState(
  { reviews }: { reviews: Collection<Review> },
  state: ReviewState,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<WithId<Review>>> {
  const by =
    state === 'pending'
      ? ({ field: 'createdAt', direction: 1 } as const)
      : ({ field: 'moderatedAt', direction: -1 } as const);
  return readOn(reviews, { filter: { state }, by, from, limit });
}
