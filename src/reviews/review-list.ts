import type { Collection, Document, WithId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { retryOnDuplicateKey } from '../platform/mongo.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { ReviewsDeps } from './deps.ts';
import { RATINGS, type Review, type ReviewList, revisionOf } from './review.ts';

/**
 * Updates the public list to a review's state, which is written first. After each write of the list the review is read
 * again, so that after concurrent decisions and edits the list matches the last state. Null when the review was
 * deleted.
 */
export async function followReview({ reviews, reviewLists }: ReviewsDeps, written: WithId<Review>) {
  let review = written;
  for (;;) {
    await setListed(reviewLists, review, review.state === 'approved');
    const existing = await reviews.findOne({ _id: review._id });
    if (!existing) {
      await setListed(reviewLists, review, false);
      return null;
    }
    if (existing.state === review.state && revisionOf(existing) === revisionOf(review)) return existing;
    review = existing;
  }
}

async function setListed(reviewLists: Collection<ReviewList>, review: WithId<Review>, listed: boolean) {
  await retryOnDuplicateKey(() =>
    reviewLists.updateOne({ _id: review.serverId }, relisting(review, listed), { upsert: listed }),
  );
}

/** Removes a review's entry and its rating in the figures, and adds both again if it is `listed`. */
function relisting(review: WithId<Review>, listed: boolean): Document[] {
  const { _id: id, createdAt: at, rating } = review;
  const filtered = (cond: Document) => ({ $filter: { input: '$entries', as: 'entry', cond } });
  const isOther = { $ne: ['$$entry.id', id] };
  const others = filtered(isOther);
  const stars = listed ? rating : 0;
  return [
    {
      $set: {
        ratingSum: { $ifNull: ['$ratingSum', 0] },
        entries: { $ifNull: ['$entries', []] },
      },
    },
    {
      // The rating that the list counts for this review; 0 if the review is not in the list. Entries from before
      // version 0.1.0 have no rating, so the review's rating is used.
      $set: {
        before: {
          $sum: {
            $map: {
              input: filtered({ $eq: ['$$entry.id', id] }),
              as: 'entry',
              in: { $ifNull: ['$$entry.rating', rating] },
            },
          },
        },
      },
    },
    {
      // All expressions of a stage read the document as it was before the stage.
      $set: {
        count: { $add: [{ $size: others }, listed ? 1 : 0] },
        ratingSum: { $add: [{ $subtract: ['$ratingSum', '$before'] }, stars] },
        spread: Object.fromEntries(
          RATINGS.map((one) => [
            one,
            {
              $add: [
                { $ifNull: [`$spread.${one}`, 0] },
                { $cond: [{ $eq: ['$before', one] }, -1, 0] },
                one === stars ? 1 : 0,
              ],
            },
          ]),
        ),
        entries: listed ? inOrder({ id, at, rating }, isOther, filtered) : others,
      },
    },
    { $unset: 'before' },
  ];
}

function inOrder(
  entry: ReviewList['entries'][number],
  isOther: Document,
  filtered: (cond: Document) => Document,
): Document {
  const isNewer = {
    $or: [
      { $gt: ['$$entry.at', entry.at] },
      { $and: [{ $eq: ['$$entry.at', entry.at] }, { $gt: ['$$entry.id', entry.id] }] },
    ],
  };
  return {
    $concatArrays: [
      filtered({ $and: [isOther, isNewer] }),
      [entry],
      filtered({ $and: [isOther, { $not: [isNewer] }] }),
    ],
  };
}

/**
 * If a process died between a decision and the update of the list, the list would count a rejected review for ever.
 * Pending reviews need no repair: the next decision updates the list. Returns the number of checked decisions.
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
