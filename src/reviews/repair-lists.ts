import type { Collection } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { startOf } from '../platform/periods/period-marks.ts';
import type { Review, ReviewList } from './review.ts';
import { followReview } from './review-list.ts';

/**
 * Makes the public lists say what was decided about reviews on a UTC day: where a process died between the decision
 * and its list, the list would count the stars of a rejected review for ever. Those that wait need no repair: a
 * decision comes.
 *
 * @returns how many decisions were looked at
 * @throws the signal's reason
 */
export async function repairReviewLists(
  deps: { reviews: Collection<Review>; reviewLists: Collection<ReviewList> },
  day: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const moderatedAt = { $gte: startOf(day), $lt: after(startOf(day), DAY) };
  let looked = 0;
  for await (const review of deps.reviews.find({ state: { $in: ['approved', 'rejected'] }, moderatedAt })) {
    signal?.throwIfAborted();
    await followReview(deps, review);
    looked += 1;
  }
  return looked;
}
