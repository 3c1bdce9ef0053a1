import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { DAY } from '../platform/clock.ts';
import { readNewestVotes } from '../votes/cast/cooldown.ts';
import { usernameKey } from '../votes/username.ts';
import type { ReviewsDeps } from './deps.ts';
import type { Review } from './review.ts';

const NEW_ACCOUNT_MS = 30 * DAY;
export const NEW_ACCOUNT_DAYS = NEW_ACCOUNT_MS / DAY;

export type Reviewer = {
  /** False for reviews that operators entered. */
  isNewAccount: boolean;
  /** Null for reviews that operators entered. Not public. */
  accountSince: Date | null;
  /** Whether the newest live or imported vote of the review's player name is not excluded. */
  hasVoted: boolean;
};

/** In the same order. A few queries read all of them. */
export function reviewersOf(
  deps: ReviewsDeps,
  serverId: ObjectId,
  reviews: Pick<WithId<Review>, 'username' | 'personId'>[],
): Promise<Reviewer[]> {
  return Promise.all(reviews.map((review) => reviewerOf(deps, { ...review, serverId })));
}

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
