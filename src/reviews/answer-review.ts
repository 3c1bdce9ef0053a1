import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { longText } from '../platform/text.ts';
import type { ReviewsDeps } from './deps.ts';
import type { Review } from './review.ts';

/** In code points. */
export const LONGEST_ANSWER = 2_000;

const schema = z.object({
  answer: longText(LONGEST_ANSWER).refine((value) => value !== '', {
    error: () => t('must not be empty'),
  }),
});

/** The answer is public at once. Null when the server has no such approved review. `by`: an e-mail address. */
export async function answerReview(
  deps: ReviewsDeps,
  { serverId, reviewId, answer }: { serverId: ObjectId; reviewId: ObjectId; answer: string },
  by: string,
): Promise<WithId<Review> | null> {
  const { answer: text } = parseInput(schema, { answer });
  const review = await deps.reviews.findOneAndUpdate(
    { _id: reviewId, serverId, state: 'approved' },
    { $set: { answer: { text, at: deps.clock.now(), by } } },
    { returnDocument: 'after' },
  );
  if (review) await record(deps, 'review.answer', review, by);
  return review;
}

/** Returns whether the server has this review. */
export async function removeAnswer(
  deps: ReviewsDeps,
  { serverId, reviewId }: { serverId: ObjectId; reviewId: ObjectId },
  by: string,
): Promise<boolean> {
  const before = await deps.reviews.findOneAndUpdate({ _id: reviewId, serverId }, { $unset: { answer: '' } });
  if (before?.answer) await record(deps, 'review.answer-removed', before, by);
  return before !== null;
}

function record(deps: ReviewsDeps, action: AuditAction, { _id, serverId }: WithId<Review>, by: string) {
  return recordAudit(deps, { by, action, serverId, details: { reviewId: _id.toHexString() } });
}
