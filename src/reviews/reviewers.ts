import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { DAY } from '../platform/clock.ts';
import { readNewestVotes } from '../votes/cast/cooldown.ts';
import { usernameKey } from '../votes/username.ts';
import type { ReviewsDeps } from './deps.ts';
import type { Review } from './review.ts';

/** An account counts as new for this long. */
const NEW_ACCOUNT_MS = 30 * DAY;
export const NEW_ACCOUNT_DAYS = NEW_ACCOUNT_MS / DAY;

/** The author of a review. */
export type Reviewer = {
  /** Whether the author's account is younger than `NEW_ACCOUNT_MS`; false for reviews that operators entered. */
  isNewAccount: boolean;
  /** When the author's account was created; null for reviews that operators entered. Not public. */
  accountSince: Date | null;
  /**
   * Whether the review's player name has voted for the server: its newest live vote or its newest imported vote is not
   * excluded.
   */
  hasVoted: boolean;
};

/** The authors of a server's reviews, in the same order. A few queries read all of them. */
export function reviewersOf(
  deps: ReviewsDeps,
  serverId: ObjectId,
  reviews: Pick<WithId<Review>, 'username' | 'personId'>[],
): Promise<Reviewer[]> {
  return Promise.all(reviews.map((review) => reviewerOf(deps, { ...review, serverId })));
}

/** The author of one review. Concurrent calls share their queries. */
export async function reviewerOf(
  { users, votes, batcher, clock }: ReviewsDeps,
  { serverId, username, personId }: Pick<Review, 'serverId' | 'username' | 'personId'>,
): Promise<Reviewer> {
  const now = clock.now().getTime();
  const [author, newest] = await Promise.all([
    personId ? batcher.load(agesLoader, users, personId) : null,
    readNewestVotes({ votes, batcher }, { serverId, usernameKey: usernameKey(username) }),
  ]);
  return {
    isNewAccount: author !== null && now - author.createdAt.getTime() < NEW_ACCOUNT_MS,
    accountSince: author?.createdAt ?? null,
    hasVoted: [newest.live, newest.imported].some((vote) => vote !== null && !vote.excludedAt),
  };
}

const agesLoader = findLoader<User, ObjectId>({
  filter: (ids) => ({ _id: anyOf(ids) }),
  nameOf: (id) => id.toHexString(),
  keyOf: ({ _id }) => _id,
  options: { projection: { createdAt: 1 } },
});
