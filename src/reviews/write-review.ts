import { type Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { checked } from '../document.ts';
import { parseInput } from '../input.ts';
import { usernameSchema } from '../votes/username.ts';
import { type Review, reviewSchema } from './review.ts';

const rating = 'The rating must be a whole number, 1 to 5.';

/** A review as a player writes it. An empty content counts as none. */
export const newReview = z.object({
  username: usernameSchema,
  rating: z.int({ error: rating }).min(1, { error: rating }).max(5, { error: rating }),
  content: z
    .string({ error: 'The content must be text.' })
    .refine((value) => value.isWellFormed(), {
      error: 'The content has an unpaired surrogate: it is not valid Unicode.',
      abort: true,
    })
    .transform((value) => value.trim())
    .refine((value) => [...value].length <= 2_000, {
      error: 'The content must have at most 2000 characters.',
    })
    .optional(),
});

export type NewReview = z.input<typeof newReview>;

/**
 * Stores a review. Nobody sees it before it is approved.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function writeReview(
  { reviews, clock }: { reviews: Collection<Review>; clock: Clock },
  { serverId, ...input }: NewReview & { serverId: ObjectId },
): Promise<{ reviewId: string }> {
  const { username, rating, content } = parseInput(newReview, input);
  const review = await checked<Review>(reviewSchema, {
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
