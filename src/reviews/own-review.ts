import { ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { defineMessage } from '../language/t.ts';
import { HOUR } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { countUse } from '../platform/limits/by-network.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { readSlice } from '../platform/slices.ts';
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

/** Null if the user can. `confirms`: whether this site sends mail, so that users can confirm their addresses. */
export function whyNotReview(
  server: Pick<Server, 'ownerId' | 'members'>,
  { _id, emailVerified }: Pick<User, '_id' | 'emailVerified'>,
  confirms: boolean,
): WhyNot | null {
  if (roleOf(server, _id)) return 'own-server';
  return confirms && !emailVerified ? 'unconfirmed' : null;
}

export function findOwnReview({ reviews }: ReviewsDeps, serverId: ObjectId, userId: ObjectId) {
  return reviews.findOne(storedAs({ serverId, userId }));
}

/**
 * Each user has one review per server. An edited review is pending again and leaves the public list. Returns the time
 * from which the user may write or edit again, if the limit is reached.
 */
export async function saveOwnReview(
  deps: ReviewsDeps,
  whose: Whose,
  input: NewReview,
): Promise<{ review: WithId<Review> } | { nextAllowedAt: Date }> {
  const { username, rating, content } = parseInput(newReview, input);
  const existing = await findOwnReview(deps, whose.serverId, whose.userId);
  const isSame =
    existing?.username === username &&
    existing.rating === rating &&
    (existing.content ?? '') === (content ?? '');
  if (existing && isSame) return { review: existing };
  const nextAllowedAt = await countUse(deps, OWN_REVIEWS, whose.userId);
  if (nextAllowedAt) return { nextAllowedAt };

  const words = { username, rating, ...(content ? { content } : {}) };
  for (;;) {
    const edited = await edit(deps, whose, words);
    if (edited) return { review: (await followReview(deps, edited)) ?? edited };
    const inserted = await insert(deps, whose, words);
    if (inserted) return { review: inserted };
  }
}

type Words = Pick<Review, 'username' | 'rating' | 'content'>;
type Whose = { serverId: ObjectId; userId: ObjectId };

/** The field in the database keeps its name from version 0.1.0. */
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

/** Null if a concurrent request of the same user inserted one first. */
async function insert({ reviews, clock }: ReviewsDeps, whose: Whose, words: Words) {
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

/** For users who now own or manage the server. A repeated call completes an interrupted one. */
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
 * Deletes a review with the owner's answer. It becomes pending and leaves the public list first: if the process dies in
 * between, another call deletes it. Returns whether there was a review.
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

export function listOwnReviews(
  { reviews }: ReviewsDeps,
  userId: ObjectId,
  slice: { from: string | undefined; limit: number },
) {
  return readSlice(reviews, {
    filter: { personId: userId },
    by: { field: 'createdAt', direction: -1 },
    ...slice,
  });
}

export function countReviewsOf({ reviews }: ReviewsDeps, userId: ObjectId): Promise<number> {
  return reviews.countDocuments({ personId: userId });
}

export async function deleteReviewsOf(deps: ReviewsDeps, userId: ObjectId): Promise<void> {
  for await (const { serverId } of deps.reviews.find({ personId: userId })) {
    await deleteOwnReview(deps, { serverId, userId });
  }
}
