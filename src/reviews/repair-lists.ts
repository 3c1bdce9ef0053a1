import { after, DAY } from '../platform/clock.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { ReviewsDeps } from './deps.ts';
import { followReview } from './review-list.ts';

/**
 * Repairs the public lists for the decisions of a UTC day. If a process died between a decision and the update of the
 * list, the list would otherwise count a rejected review for ever. Pending reviews need no repair, because the next
 * decision updates the list.
 *
 * @returns the number of decisions that were checked
 * @throws the signal's reason when it is aborted
 */
export async function repairReviewLists(
  deps: ReviewsDeps,
  day: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const moderatedAt = { $gte: startOfDay(day), $lt: after(startOfDay(day), DAY) };
  let looked = 0;
  for await (const review of deps.reviews.find({ state: { $in: ['approved', 'rejected'] }, moderatedAt })) {
    signal?.throwIfAborted();
    await followReview(deps, review);
    looked += 1;
  }
  return looked;
}
