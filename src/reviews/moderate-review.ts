import type { Collection, Document, ObjectId, WithId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';
import type { Review, ReviewList } from './review.ts';

type Moderation = {
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
};

/**
 * Approves or rejects a review. Doing it again changes nothing, and completes what a crash cut short.
 *
 * The review's state is the truth and is written first; the server's public list follows it. Whoever has
 * written the list looks at the state once more: when two people decide differently at the same moment, the
 * list ends as the last decision says.
 *
 * @param by - who decided, for the audit log
 * @returns the review as it is now; null when there is none
 */
export async function moderateReview(
  deps: Moderation,
  reviewId: ObjectId,
  state: 'approved' | 'rejected',
  by: string,
): Promise<WithId<Review> | null> {
  const { reviews, clock } = deps;
  let review = await reviews.findOneAndUpdate(
    { _id: reviewId },
    [
      {
        $set: {
          moderatedAt: { $cond: [{ $eq: ['$state', state] }, '$moderatedAt', clock.now()] },
          state,
        },
      },
    ],
    { returnDocument: 'after' },
  );
  if (!review) return null;
  const { serverId } = review;

  for (;;) {
    const listed = review.state;
    await setListed(deps.reviewLists, review, listed === 'approved');
    review = await reviews.findOne({ _id: reviewId });
    if (!review || review.state === listed) break;
  }
  await recordAudit(deps, {
    by,
    action: `review.${state}`,
    serverId,
    details: { reviewId: reviewId.toHexString() },
  });
  return review;
}

/** Puts a review into its server's list, or takes it out, with the figures that belong to it: one update. */
async function setListed(
  reviewLists: Collection<ReviewList>,
  review: Review,
  listed: boolean,
): Promise<void> {
  const update = () =>
    reviewLists.updateOne({ _id: review.serverId }, listed ? entering(review) : leaving(review), {
      upsert: listed,
    });
  try {
    await update();
  } catch (error) {
    // Two first reviews at once: the other one has made the list in the meantime.
    if (!isDuplicateKey(error)) throw error;
    await update();
  }
}

const isListed = (review: Review): Document => ({ $in: [review._id, '$entries.id'] });

const stars = ({ rating }: Review): string => `spread.${rating}`;
const starsOf = (review: Review): Document => ({ $ifNull: [`$${stars(review)}`, 0] });

function entering(review: Review): Document[] {
  const entry = { id: review._id, at: review.createdAt };
  const isNewer = {
    $or: [
      { $gt: ['$$entry.at', entry.at] },
      { $and: [{ $eq: ['$$entry.at', entry.at] }, { $gt: ['$$entry.id', entry.id] }] },
    ],
  };
  const entries = (cond: Document) => ({ $filter: { input: '$entries', as: 'entry', cond } });
  return [
    {
      $set: {
        count: { $ifNull: ['$count', 0] },
        ratingSum: { $ifNull: ['$ratingSum', 0] },
        entries: { $ifNull: ['$entries', []] },
      },
    },
    {
      // Every expression of one stage sees the document as it was before the stage.
      $set: {
        count: { $cond: [isListed(review), '$count', { $add: ['$count', 1] }] },
        ratingSum: { $cond: [isListed(review), '$ratingSum', { $add: ['$ratingSum', review.rating] }] },
        [stars(review)]: {
          $cond: [isListed(review), starsOf(review), { $add: [starsOf(review), 1] }],
        },
        entries: {
          $cond: [
            isListed(review),
            '$entries',
            { $concatArrays: [entries(isNewer), [entry], entries({ $not: [isNewer] })] },
          ],
        },
      },
    },
  ];
}

function leaving(review: Review): Document[] {
  return [
    {
      $set: {
        count: { $cond: [isListed(review), { $subtract: ['$count', 1] }, '$count'] },
        ratingSum: { $cond: [isListed(review), { $subtract: ['$ratingSum', review.rating] }, '$ratingSum'] },
        [stars(review)]: {
          $cond: [isListed(review), { $subtract: [starsOf(review), 1] }, starsOf(review)],
        },
        entries: { $filter: { input: '$entries', as: 'entry', cond: { $ne: ['$$entry.id', review._id] } } },
      },
    },
  ];
}
