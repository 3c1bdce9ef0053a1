import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import { checked } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isMailAddress, longText, mailAddressRefusal } from '../platform/text.ts';
import { usernameSchema } from '../votes/username.ts';
import type { ReviewsDeps } from './deps.ts';
import type { Review } from './review.ts';

/** In code points. */
export const LONGEST_REVIEW = 2_000;

const ratingRule = () => t('must be a whole number, 1 to 5');

/** An empty text means a review without text. */
export const newReview = z.object({
  username: usernameSchema.refine((name) => !isMailAddress(name), { error: mailAddressRefusal }),
  rating: z.int({ error: ratingRule }).min(1, { error: ratingRule }).max(5, { error: ratingRule }),
  content: longText(LONGEST_REVIEW).optional(),
});

export type NewReview = z.input<typeof newReview>;

/** For operators. The review is public after its approval. Users write with `saveOwnReview`. */
export async function writeReview(
  { reviews, clock }: ReviewsDeps,
  { serverId, ...input }: NewReview & { serverId: ObjectId },
): Promise<{ reviewId: string }> {
  const { username, rating, content } = parseInput(newReview, input);
  const review = await checked<Review>(reviews, {
    _id: new ObjectId(),
    serverId,
    username,
    rating,
    ...(content ? { content } : {}),
    state: 'pending',
    createdAt: clock.now(),
    moderatedAt: null,
  });
  await reviews.insertOne(review);
  return { reviewId: review._id.toHexString() };
}
