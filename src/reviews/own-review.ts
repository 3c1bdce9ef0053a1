import { type Collection, ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { type Clock, HOUR } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { type Allowance, type RateLimit, useAllowance } from '../platform/limits/rate-limit.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { Server } from '../servers/server.ts';
import { type Review, type ReviewList, revisionOf } from './review.ts';
import { followReview } from './review-list.ts';
import { type NewReview, newReview } from './write-review.ts';

type Reviewing = {
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  rateLimits: Collection<RateLimit>;
  clock: Clock;
};

/** Enough for somebody who corrects themselves; each one has to be read by an operator. */
const WRITTEN: Allowance = { times: 10, windowMs: HOUR };

/** Why somebody may not review a server: it is their own, or their e-mail address is not confirmed. */
export type WhyNot = 'own-server' | 'unconfirmed';

/** @param confirms - whether this site confirms addresses: it can send mail */
export function whyNotReview(
  { ownerId }: Pick<Server, 'ownerId'>,
  { _id, emailVerified }: Pick<User, '_id' | 'emailVerified'>,
  confirms: boolean,
): WhyNot | null {
  if (ownerId?.equals(_id)) return 'own-server';
  return confirms && !emailVerified ? 'unconfirmed' : null;
}

/** The review that a user wrote of a server, in whatever state; null when there is none. */
export function findOwnReview(
  { reviews }: Pick<Reviewing, 'reviews'>,
  serverId: ObjectId,
  userId: ObjectId,
): Promise<WithId<Review> | null> {
  return reviews.findOne(storedAs({ serverId, userId }));
}

/**
 * Stores a user's one review of a server, or changes it: then it waits for approval again, and leaves the public
 * list until it has it. Saving what stands changes nothing.
 *
 * @returns the review; or when the next one may be written, where this user wrote too many
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function saveOwnReview(
  deps: Reviewing,
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
  const nextAllowedAt = await useAllowance(deps, `review:${userId.toHexString()}`, WRITTEN);
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

/** `personId` is the stored name of `userId`. */
function storedAs({ serverId, userId }: Whose): Pick<Review, 'serverId' | 'personId'> {
  return { serverId, personId: userId };
}

const UNDECIDED = { state: 'pending', moderatedAt: null, moderatedBy: null, rejectedFor: null } as const;

function edit({ reviews, clock }: Reviewing, whose: Whose, words: Words): Promise<WithId<Review> | null> {
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

/** Null when this user sent the form twice at once: the other one is there. */
async function insert(
  { reviews, clock }: Reviewing,
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

/**
 * Rejects what a user wrote of a server that has become theirs: nobody reviews their own. Doing it again changes
 * nothing, and completes what a crash cut short.
 */
export async function rejectOwnersReview(
  deps: Pick<Reviewing, 'reviews' | 'reviewLists' | 'clock'>,
  whose: Whose,
): Promise<void> {
  const existing = await findOwnReview(deps, whose.serverId, whose.userId);
  if (!existing) return;
  const rejected = await deps.reviews.findOneAndUpdate(
    { _id: existing._id, state: { $ne: 'rejected' } },
    {
      $set: {
        state: 'rejected',
        moderatedAt: deps.clock.now(),
        moderatedBy: 'tallyport',
        rejectedFor: 'Whoever wrote it has become the owner of the server.',
      },
      $inc: { revision: 1 },
    },
    { returnDocument: 'after' },
  );
  await followReview(deps, rejected ?? existing);
}

/**
 * Deletes a user's review of a server, and the owner's answer with it. It leaves the public list first: killed
 * half-way, the review is there and waits, and deleting it again finishes it.
 *
 * @returns whether there was one
 */
export async function deleteOwnReview(deps: Reviewing, whose: Whose): Promise<boolean> {
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
    // Where an operator has just approved it, it is listed, and has to leave the list again.
    const { deletedCount } = await deps.reviews.deleteOne({ _id, state: 'pending', revision });
    if (deletedCount > 0) return true;
  }
}
