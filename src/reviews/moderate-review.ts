import type { Collection, Document, ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { parseInput } from '../input.ts';
import { isDuplicateKey } from '../mongo.ts';
import { reasonText } from '../text.ts';
import type { Review, ReviewList, ReviewState } from './review.ts';

type Moderation = {
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
};

type Decision = {
  /** Why it is rejected. Rejecting again without one keeps the reason that stands. */
  reason?: string;
  /** Decide only while it is in this state: whoever decides has seen it so. */
  seenAs?: ReviewState;
};

const rejection = z.object({ reason: reasonText.optional() });

/**
 * Approves or rejects a review, or undoes either: `pending` takes it back to those that wait. Doing it again
 * changes nothing, and completes what a crash cut short.
 *
 * The review's state is the truth and is written first; the server's public list follows it. Whoever has
 * written the list looks at the state once more: when two people decide differently at the same moment, the
 * list ends as the last decision says.
 *
 * @param by - who decided, for the audit log
 * @returns the review as it is now, which is in another state than asked for when it was not in `seenAs` any more;
 *   null when there is none
 * @throws {InvalidDocumentError} for the reason
 */
export async function moderateReview(
  deps: Moderation,
  reviewId: ObjectId,
  state: ReviewState,
  by: string,
  { seenAs, ...input }: Decision = {},
): Promise<WithId<Review> | null> {
  const { reason } = parseInput(rejection, input);
  const { reviews } = deps;
  let review = await reviews.findOneAndUpdate(
    { _id: reviewId, ...(seenAs ? { state: { $in: [seenAs, state] } } : {}) },
    [{ $set: decided(state, by, deps.clock.now(), reason) }],
    { returnDocument: 'after' },
  );
  if (!review) return reviews.findOne({ _id: reviewId });
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
    details: { reviewId: reviewId.toHexString(), ...(reason ? { reason } : {}) },
  });
  return review;
}

/** The fields of a decision; the same one made again keeps what stands. */
function decided(state: ReviewState, by: string, now: Date, reason: string | undefined): Document {
  if (state === 'pending') return { state, moderatedAt: null, moderatedBy: null, rejectedFor: null };
  const unlessDecided = (standing: string, value: unknown) => ({
    $cond: [{ $eq: ['$state', state] }, { $ifNull: [standing, null] }, value],
  });
  const given = { $literal: state === 'rejected' ? (reason ?? null) : null };
  return {
    state,
    moderatedAt: unlessDecided('$moderatedAt', now),
    moderatedBy: unlessDecided('$moderatedBy', { $literal: by }),
    rejectedFor: state === 'rejected' && reason ? given : unlessDecided('$rejectedFor', given),
  };
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
