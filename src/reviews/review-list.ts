import type { Collection, Document, WithId } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo.ts';
import { RATINGS, type Review, type ReviewList, revisionOf } from './review.ts';

type Lists = { reviews: Collection<Review>; reviewLists: Collection<ReviewList> };

/**
 * Makes the server's public list say what a review's state says. The state is the truth and was written first; the
 * list follows it. Whoever has written the list looks at the review once more: when two decide, or somebody edits
 * what another one approves, at the same moment, the list ends as the last of them says.
 *
 * @param written - the review as whoever changed it left it
 * @returns the review as it is now; null when it is gone
 */
export async function followReview(
  { reviews, reviewLists }: Lists,
  written: WithId<Review>,
): Promise<WithId<Review> | null> {
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

/** Puts a review into its server's list, or takes it out, with the figures that belong to it: one update. */
async function setListed(
  reviewLists: Collection<ReviewList>,
  review: WithId<Review>,
  listed: boolean,
): Promise<void> {
  const update = () =>
    reviewLists.updateOne({ _id: review.serverId }, relisting(review, listed), { upsert: listed });
  try {
    await update();
  } catch (error) {
    // Two first reviews at once: the other one has made the list in the meantime.
    if (!isDuplicateKey(error)) throw error;
    await update();
  }
}

/** What is in the list of this review goes, with the stars that it counted with; then it comes in, if it is to. */
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
      // 0 where it is not listed. Entries of an older version have no rating; it was never changed then.
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
      // Every expression of one stage sees the document as it was before the stage.
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

/** The other entries with this one in its place: newest first. */
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
