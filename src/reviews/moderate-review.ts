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
  /** The reason of a rejection, for operators only. A repeated rejection without a reason keeps the first reason. */
  reason?: string;
  /** The reason of a rejection for the review's author. */
  reasonForOwner?: string | undefined;
  /** The state that the operator saw. The decision applies only if the review is in this state or the wanted one. */
  seenAs?: ReviewState;
  /** The revision that the operator saw. If the author has edited the review since, the decision does not apply. */
  revision?: number;
};

const rejection = z.object({ reason: reasonText.optional(), reasonForOwner: optionalReason });

/**
 * Approves or rejects a review, or sets it back to `pending`, and updates the server's public list (see
 * review-list.ts). If the same approval or rejection is repeated, at most the reasons change; after a crash, the
 * repeated call completes the first one.
 *
 * @param by - who decided, for the audit log
 * @returns the current review; unchanged if it was not as the operator saw it; null when there is no such review
 * @throws {InvalidDocumentError} when a reason is invalid
 */
export async function moderateReview(
  deps: ReviewsDeps,
  reviewId: ObjectId,
  state: ReviewState,
  by: string,
  { seenAs, revision, ...input }: Decision = {},
): Promise<WithId<Review> | null> {
  const reasons = parseInput(rejection, input);
  const { reviews } = deps;
  const decided = await reviews.findOneAndUpdate(
    { _id: reviewId, ...asSeen(state, seenAs, revision) },
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

/**
 * The id of the audit log entry. A repeated approval or rejection keeps its time, so with the same reasons the id is
 * the same and no second entry is written. `pending` has no time, so each call writes an entry.
 */
function entryId({ state, moderatedAt }: Review, details: object): ObjectId {
  if (!moderatedAt) return new ObjectId();
  const hash = createHash('sha256')
    .update(JSON.stringify([state, moderatedAt, details]))
    .digest('hex');
  const seconds = Math.floor(moderatedAt.getTime() / SECOND);
  return new ObjectId(seconds.toString(16).padStart(8, '0') + hash.slice(0, 16));
}

function asSeen(
  state: ReviewState,
  seenAs: ReviewState | undefined,
  revision: number | undefined,
): Filter<Review> {
  return {
    ...(seenAs ? { state: { $in: [seenAs, state] } } : {}),
    ...(revision === undefined ? {} : { revision: revision === 0 ? { $in: [0, null as never] } : revision }),
  };
}

/** The fields that a decision sets. If the same decision is repeated, the existing values stay, except new reasons. */
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

/**
 * Decides about several reviews, each as `moderateReview` does. If another operator decided about a review, or its
 * author edited it, that review does not change.
 *
 * @returns the reviews that have the wanted state now
 * @throws {InvalidDocumentError} when a reason is invalid
 */
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
    if (review?.state === state) decided.push(one);
  }
  return decided;
}
