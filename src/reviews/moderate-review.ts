import { createHash } from 'node:crypto';
import { type Document, type Filter, ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { SECOND } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import type { ReviewsDeps } from './deps.ts';
import { type Review, type ReviewState, UNDECIDED } from './review.ts';
import { followReview } from './review-list.ts';

type Decision = {
  /** For operators only. A repeated rejection without a reason keeps the first reason. */
  reason?: string;
  reasonForOwner?: string | undefined;
  /** The state that the operator saw. The decision applies only to it, or completes the same one of this operator. */
  seenAs?: ReviewState;
  /** Only what this operator decided is undone. */
  decidedBy?: string;
  /** The revision that the operator saw. If the author has edited the review since, the decision does not apply. */
  revision?: number;
};

const rejection = z.object({ reason: reasonText.optional(), reasonForOwner: optionalReason });

/**
 * Decides about a review and updates the public list. If the same approval or rejection is repeated, at most the
 * reasons change; after a crash, the repeated call completes the first one. Returns the current review, unchanged if it
 * was not as the operator saw it; null when there is no such review.
 */
export async function moderateReview(
  deps: ReviewsDeps,
  reviewId: ObjectId,
  state: ReviewState,
  by: string,
  { seenAs, decidedBy, revision, ...input }: Decision = {},
): Promise<WithId<Review> | null> {
  const reasons = parseInput(rejection, input);
  const { reviews } = deps;
  const decided = await reviews.findOneAndUpdate(
    { _id: reviewId, ...asSeen({ seenAs, decidedBy, revision }, { state, by }) },
    [{ $set: decision(state, by, deps.clock.now(), reasons) }],
    { returnDocument: 'after' },
  );
  if (!decided) return reviews.findOne({ _id: reviewId });
  const { serverId } = decided;
  const review = await followReview(deps, decided);
  const details = { reviewId: reviewId.toHexString(), ...given(reasons) };
  await recordAuditOnce(deps, entryId(decided, details), {
    by,
    action: `review.${state}`,
    serverId,
    details,
  });
  return review;
}

const given = (reasons: object) => Object.fromEntries(Object.entries(reasons).filter(([, reason]) => reason));

/** A repeated decision keeps its time, so the same reasons give the same id: one entry. `pending` has no time. */
function entryId({ state, moderatedAt }: Review, details: object): ObjectId {
  if (!moderatedAt) return new ObjectId();
  const hash = createHash('sha256')
    .update(JSON.stringify([state, moderatedAt, details]))
    .digest('hex');
  const seconds = Math.floor(moderatedAt.getTime() / SECOND);
  return new ObjectId(seconds.toString(16).padStart(8, '0') + hash.slice(0, 16));
}

/** Whether a review has the state by a decision of this operator, and not by another's. */
export function hasDecided(review: Review, state: ReviewState, by: string): boolean {
  return review.state === state && (state === 'pending' || review.moderatedBy === by);
}

type Seen = { [K in 'seenAs' | 'decidedBy' | 'revision']: Decision[K] | undefined };

function asSeen(
  { seenAs, decidedBy, revision }: Seen,
  { state, by }: { state: ReviewState; by: string },
): Filter<Review> {
  const same = { state, ...(state === 'pending' ? {} : { moderatedBy: by }) };
  return {
    ...(seenAs ? { $or: [{ state: seenAs, ...(decidedBy ? { moderatedBy: decidedBy } : {}) }, same] } : {}),
    ...(revision === undefined ? {} : { revision: revision === 0 ? { $in: [0, null as never] } : revision }),
  };
}

/** If the same decision is repeated, the existing values stay, except new reasons. */
function decision(
  state: ReviewState,
  by: string,
  now: Date,
  { reason, reasonForOwner }: z.output<typeof rejection>,
): Document {
  if (state === 'pending') return { ...UNDECIDED };
  const unlessDecided = (existing: string, value: unknown) => ({
    $cond: [{ $eq: ['$state', state] }, { $ifNull: [existing, null] }, value],
  });
  const internal = { $literal: state === 'rejected' ? (reason ?? null) : null };
  const forAuthor = { $literal: state === 'rejected' ? (reasonForOwner ?? null) : null };
  return {
    state,
    moderatedAt: unlessDecided('$moderatedAt', now),
    moderatedBy: unlessDecided('$moderatedBy', { $literal: by }),
    rejectedFor: state === 'rejected' && reason ? internal : unlessDecided('$rejectedFor', internal),
    rejectionReason:
      state === 'rejected' && reason ? forAuthor : unlessDecided('$rejectionReason', forAuthor),
  };
}

export type SeenReview = { reviewId: ObjectId; revision: number };

/** The reviews about which this operator has decided so: another may have decided first, or the author edited. */
export async function moderateReviews(
  deps: ReviewsDeps,
  seen: SeenReview[],
  state: ReviewState,
  by: string,
  decision: Omit<Decision, 'revision'>,
): Promise<SeenReview[]> {
  const decided: SeenReview[] = [];
  for (const one of seen) {
    const review = await moderateReview(deps, one.reviewId, state, by, {
      ...decision,
      revision: one.revision,
    });
    if (review && hasDecided(review, state, by)) decided.push(one);
  }
  return decided;
}
