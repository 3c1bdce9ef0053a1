import type { Collection } from 'mongodb';
import type { VotesDeps } from '../votes/deps.ts';
import type { Review, ReviewList } from './review.ts';

export type ReviewsDeps = VotesDeps & {
  reviewLists: Collection<ReviewList>;
  reviews: Collection<Review>;
};
