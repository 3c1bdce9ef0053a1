import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { after, DAY, HOUR } from '../platform/clock.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { answerReview } from '../reviews/answer-review.ts';
import { moderateReview } from '../reviews/moderate-review.ts';
import type { Review } from '../reviews/review.ts';
import { writeReview } from '../reviews/write-review.ts';
import { chance } from './chance.ts';
import { type ListedSample, seedOf } from './sample-days.ts';
import { samplePlayer } from './sample-players.ts';
import samples from './sample-reviews.json' with { type: 'json' };

const { reviews, answers } = z
  .strictObject({
    reviews: z.array(z.strictObject({ rating: z.int().min(1).max(5), content: z.string().optional() })),
    answers: z.array(z.string()),
  })
  .parse(samples);

/** Adds a sample's reviews. The newest review of some samples is pending, and some reviews have the owner's answer. */
export async function writeSampleReviews(deps: AppDeps, { serverId, sample }: ListedSample): Promise<void> {
  const seed = seedOf(sample);
  const now = deps.clock.now();
  const age = Math.min(sample.listedDays, 300) * DAY;
  for (let number = 0; number < sample.activity.reviews; number++) {
    const { rating = 5, content } = reviews[(seed + number) % reviews.length] ?? {};
    const username = samplePlayer(seed, 3 * number);
    const at = after(now, -age * ((number + chance(seed + number)) / sample.activity.reviews));
    const then = { ...deps, clock: { now: () => at } };
    const reviewId = await reviewOf(then, { serverId, username, rating, ...(content ? { content } : {}) });
    const isPending = number === 0 && seed % 3 === 0;
    if (isPending) continue;
    await moderateReview(then, reviewId, 'approved', 'demo');
    const answer = rating < 4 || number % 4 === 1 ? answers[rating < 4 ? (rating % 2) + 1 : 0] : undefined;
    const later = { ...deps, clock: { now: () => after(at, 5 * HOUR) } };
    if (answer) await answerReview(later, { serverId, reviewId, answer }, 'demo');
  }
}

/** Writes a review. If an earlier demo wrote it, returns that one. */
async function reviewOf(deps: AppDeps, review: Parameters<typeof writeReview>[1]): Promise<Review['_id']> {
  const { serverId, username } = review;
  const existing = await deps.reviews.findOne({ serverId, username });
  if (existing) return existing._id;
  const { reviewId } = await writeReview(deps, review);
  return new ObjectId(reviewId);
}
