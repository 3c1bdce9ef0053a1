import { ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { defineMessage } from '../language/t.ts';
import { HOUR } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { countUse } from '../platform/limits/by-network.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import { roleOf } from '../servers/ownership.ts';
import type { Server } from '../servers/server.ts';
import type { ReviewsDeps } from './deps.ts';
import { type Review, revisionOf, UNDECIDED } from './review.ts';
import { followReview } from './review-list.ts';
import { type NewReview, newReview } from './write-review.ts';

/** Enough for corrections, and few enough for operators to read all. */
export const OWN_REVIEWS = defineLimit({
  key: 'review',
  what: 'New and changed reviews',
  of: 'user',
  times: 10,
  windowMs: HOUR,
  sentence: defineMessage('You have changed your reviews too often.'),
});

export type WhyNot = 'own-server' | 'unconfirmed';

/**
 * Why a user cannot review a server; null if they can. Owners and members cannot review their server.
 *
 * @param confirms - whether this site sends mail, so that users can confirm their addresses
 */
export function whyNotReview(
  server: Pick<Server, 'ownerId' | 'members'>,
  { _id, emailVerified }: Pick<User, '_id' | 'emailVerified'>,
  confirms: boolean,
): WhyNot | null {
  if (roleOf(server, _id)) return 'own-server';
  return confirms && !emailVerified ? 'unconfirmed' : null;
}

/** A user's review of a server, in any state; null when there is none. */
export function findOwnReview(
  { reviews }: ReviewsDeps,
  serverId: ObjectId,
  userId: ObjectId,
): Promise<WithId<Review> | null> {
  return reviews.findOne(storedAs({ serverId, userId }));
}

/**
 * Stores or edits a user's review of a server; each user has one per server. An edited review is pending again and
 * leaves the public list. If nothing changed, nothing happens.
 *
 * @returns the review; if the limit is reached, the time from which the user may write or edit one again
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function saveOwnReview(
  deps: ReviewsDeps,
  { serverId, userId }: { serverId: ObjectId; userId: ObjectId },
  input: NewReview,
): Promise<{ review: WithId<Review> } | { nextAllowedAt: Date }> {
  const { username, rating, content } = parseInput(newReview, input);
  const existing = await findOwnReview(deps, serverId, userId);
  const isSame =
    existing?.username === username &&
    existing.rating === rating &&
    (existing.content ?? '') === (content ?? '');
  if (existing && isSame) return { review: existing };
  const nextAllowedAt = await countUse(deps, OWN_REVIEWS, userId);
  if (nextAllowedAt) return { nextAllowedAt };

  const words = { username, rating, ...(content ? { content } : {}) };
  for (;;) {
    const edited = await edit(deps, { serverId, userId }, words);
    if (edited) return { review: (await followReview(deps, edited)) ?? edited };
    const inserted = await insert(deps, { serverId, userId }, words);
    if (inserted) return { review: inserted };
  }
}

type Words = Pick<Review, 'username' | 'rating' | 'content'>;
type Whose = { serverId: ObjectId; userId: ObjectId };

/** Renames `userId` to `personId`, the name of the field in the database. */
function storedAs({ serverId, userId }: Whose): Pick<Review, 'serverId' | 'personId'> {
  return { serverId, personId: userId };
}

function edit({ reviews, clock }: ReviewsDeps, whose: Whose, words: Words): Promise<WithId<Review> | null> {
  return reviews.findOneAndUpdate(
    storedAs(whose),
    {
      $set: { ...words, ...UNDECIDED, editedAt: clock.now() },
      $inc: { revision: 1 },
      ...(words.content ? {} : { $unset: { content: '' } }),
    },
    { returnDocument: 'after' },
  );
}

/** Inserts a review; returns null if a concurrent request of the same user inserted one first. */
async function insert(
  { reviews, clock }: ReviewsDeps,
  whose: Whose,
  words: Words,
): Promise<WithId<Review> | null> {
  const review = {
    _id: new ObjectId(),
    ...storedAs(whose),
    ...words,
    ...UNDECIDED,
    revision: 0,
    createdAt: clock.now(),
  };
  try {
    await reviews.insertOne(review);
    return review;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return null;
  }
}

/** Rejects a user's review of a server that they now own or manage. A repeated call completes an interrupted one. */
export async function rejectOwnersReview(deps: ReviewsDeps, whose: Whose): Promise<void> {
  const existing = await findOwnReview(deps, whose.serverId, whose.userId);
  if (!existing) return;
  const rejected = await deps.reviews.findOneAndUpdate(
    { _id: existing._id, state: { $ne: 'rejected' } },
    {
      $set: {
        state: 'rejected',
        moderatedAt: deps.clock.now(),
        moderatedBy: 'tallyport',
        rejectedFor: 'Whoever wrote it owns or manages the server now.',
        rejectionReason: 'You own or manage the server now.',
      },
      $inc: { revision: 1 },
    },
    { returnDocument: 'after' },
  );
  await followReview(deps, rejected ?? existing);
}

/**
 * Deletes a user's review of a server together with the owner's answer. The review first becomes pending and leaves the
 * public list. If the process dies in between, another call deletes the review.
 *
 * @returns whether there was a review
 */
export async function deleteOwnReview(deps: ReviewsDeps, whose: Whose): Promise<boolean> {
  for (;;) {
    const withdrawn = await deps.reviews.findOneAndUpdate(
      storedAs(whose),
      { $set: UNDECIDED, $inc: { revision: 1 } },
      { returnDocument: 'after' },
    );
    if (!withdrawn) return false;
    await followReview(deps, withdrawn);
    const { _id } = withdrawn;
    const revision = revisionOf(withdrawn);
    // If an operator approved the review meanwhile, it is in the list again and must leave the list first.
    const { deletedCount } = await deps.reviews.deleteOne({ _id, state: 'pending', revision });
    if (deletedCount > 0) return true;
  }
}

/** A page of a user's reviews in all states, newest first. */
export function listOwnReviews(
  { reviews }: ReviewsDeps,
  userId: ObjectId,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<WithId<Review>>> {
  return readSlice(reviews, {
    filter: { personId: userId },
    by: { field: 'createdAt', direction: -1 },
    from,
    limit,
  });
}

export function countReviewsOf({ reviews }: ReviewsDeps, userId: ObjectId): Promise<number> {
  return reviews.countDocuments({ personId: userId });
}

/** Deletes all reviews of a user; see `deleteOwnReview`. */
export async function deleteReviewsOf(deps: ReviewsDeps, userId: ObjectId): Promise<void> {
  for await (const { serverId } of deps.reviews.find({ personId: userId })) {
    await deleteOwnReview(deps, { serverId, userId });
  }
}
