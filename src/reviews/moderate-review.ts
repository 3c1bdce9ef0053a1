import type { Collection, Document, Filter, ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { reasonText } from '../platform/text.ts';
import type { Review, ReviewList, ReviewState } from './review.ts';
import { followReview } from './review-list.ts';

type Moderation = {
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
};

type Decision = {
  /** Why it is rejected. A second rejection without a reason keeps the first one. */
  reason?: string;
  /** The state that the operator saw: the decision applies only while the review is in it. */
  seenAs?: ReviewState;
  /** The revision that the operator saw: the decision applies only to it, since the author may have edited it since. */
  revision?: number;
};

const rejection = z.object({ reason: reasonText.optional() });

/**
 * Approves or rejects a review, or returns it to `pending`. A second call changes nothing and completes what a crash
 * interrupted. The server's public list follows (see review-list.ts).
 *
 * @param by - who decided, for the audit log
 * @returns the current review; its state differs from the requested one when it was no longer in `seenAs` or at
 *   `revision`; null when there is no such review
 * @throws {InvalidDocumentError} for the reason
 */
export async function moderateReview(
  deps: Moderation,
  reviewId: ObjectId,
  state: ReviewState,
  by: string,
  { seenAs, revision, ...input }: Decision = {},
): Promise<WithId<Review> | null> {
  const { reason } = parseInput(rejection, input);
  const { reviews } = deps;
  const decided = await reviews.findOneAndUpdate(
    { _id: reviewId, ...asSeen(state, seenAs, revision) },
    [{ $set: decision(state, by, deps.clock.now(), reason) }],
    { returnDocument: 'after' },
  );
  if (!decided) return reviews.findOne({ _id: reviewId });
  const { serverId } = decided;
  const review = await followReview(deps, decided);
  await recordAudit(deps, {
    by,
    action: `review.${state}`,
    serverId,
    details: { reviewId: reviewId.toHexString(), ...(reason ? { reason } : {}) },
  });
  return review;
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

/** The fields of a decision; the same decision again keeps the existing values. */
function decision(state: ReviewState, by: string, now: Date, reason: string | undefined): Document {
  if (state === 'pending') return { state, moderatedAt: null, moderatedBy: null, rejectedFor: null };
  const unlessDecided = (existing: string, value: unknown) => ({
    $cond: [{ $eq: ['$state', state] }, { $ifNull: [existing, null] }, value],
  });
  const given = { $literal: state === 'rejected' ? (reason ?? null) : null };
  return {
    state,
    moderatedAt: unlessDecided('$moderatedAt', now),
    moderatedBy: unlessDecided('$moderatedBy', { $literal: by }),
    rejectedFor: state === 'rejected' && reason ? given : unlessDecided('$rejectedFor', given),
  };
}
