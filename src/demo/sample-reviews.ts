import { ObjectId } from 'mongodb';
import { after, DAY, HOUR } from '../platform/clock.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { answerReview } from '../reviews/answer-review.ts';
import { moderateReview } from '../reviews/moderate-review.ts';
import type { Review } from '../reviews/review.ts';
import { writeReview } from '../reviews/write-review.ts';
import { chance } from './chance.ts';
import { type ListedSample, seedOf } from './sample-days.ts';
import { samplePlayer } from './sample-players.ts';

const REVIEWS: [rating: number, content: string | undefined][] = [
  [5, 'Kind people, and it is hardly ever away.'],
  [4, 'Good community. The evenings are a little crowded for my laptop.'],
  [5, 'I came for a weekend and stayed for two years.'],
  [3, 'Fine server, but the rules change every other week.'],
  [5, undefined],
  [4, 'Sehr nette Leute, faire Regeln, nur das Wochenende ist voll.'],
  [2, 'My house was gone after the last reset. Nobody told us before.'],
  [5, 'Les admins répondent vite, même la nuit.'],
  [4, 'Vote rewards arrive at once. That is rarer than it should be.'],
  [5, 'Mi hermano y yo jugamos aquí cada tarde.'],
  [1, 'Lag, lag, lag.\n\nI tried it from two places and gave up.'],
  [4, undefined],
  [5, 'The staff took an hour to help my daughter find her dog. Five stars for the dog.'],
  [3, 'Nice builds, few players in my time zone.'],
  [4, 'とても親切なサーバーです。'],
  [5, 'Best of its kind that I have found, and I have been looking since 2013.'],
];

const ANSWERS = [
  'Thank you! See you in the evening.',
  'Sorry about that. It is announced on the website a week before from now on.',
  'We have moved to a bigger machine since. Try us again?',
];

/** Adds a sample's reviews. The newest review of some samples is pending, and some reviews have the owner's answer. */
export async function writeSampleReviews(deps: AppDeps, { serverId, sample }: ListedSample): Promise<void> {
  const seed = seedOf(sample);
  const now = deps.clock.now();
  const age = Math.min(sample.listedDays, 300) * DAY;
  for (let number = 0; number < sample.activity.reviews; number++) {
    const [rating = 5, content] = REVIEWS[(seed + number) % REVIEWS.length] ?? [];
    const username = samplePlayer(seed, 3 * number);
    const at = after(now, -age * ((number + chance(seed + number)) / sample.activity.reviews));
    const then = { ...deps, clock: { now: () => at } };
    const reviewId = await reviewOf(then, { serverId, username, rating, ...(content ? { content } : {}) });
    const isPending = number === 0 && seed % 3 === 0;
    if (isPending) continue;
    await moderateReview(then, reviewId, 'approved', 'demo');
    const answer = rating < 4 || number % 4 === 1 ? ANSWERS[rating < 4 ? (rating % 2) + 1 : 0] : undefined;
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
