import type { WithId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import type { Review } from '../reviews/review.ts';
import { audienceOf } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { eventOf, type NotificationText } from './notification-text.ts';
import { forServer, notify } from './notify.ts';

/** Owners have seen older ones by then, or an older version approved them. */
const NEWLY_MS = 2 * DAY;

/** In code points. */
const LONGEST_QUOTE = 500;

/** Owners are not notified of edits. */
export async function notifyOfReviews(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const since = after(deps.clock.now(), -NEWLY_MS);
  const approved = deps.reviews.find({
    state: 'approved',
    moderatedAt: { $gt: since },
    toldAt: { $exists: false },
  });
  let written = 0;
  for await (const review of approved.sort({ moderatedAt: 1 })) {
    if (stop.aborted) return written;
    written += await forServer(deps, review.serverId, () => notifyOfReview(deps, review));
  }
  return written;
}

async function notifyOfReview(deps: NotificationsDeps, review: WithId<Review>): Promise<number> {
  const audience = await audienceOf(deps, review.serverId);
  const result = audience && (await notify(deps, audience, 'review', reviewText(review)));
  await deps.reviews.updateOne({ _id: review._id }, { $set: { toldAt: deps.clock.now() } });
  return result === 'written' ? 1 : 0;
}

function reviewText({ _id, username, rating, content }: WithId<Review>): NotificationText {
  const letters = [...(content ?? '').replace(/\s+/g, ' ').trim()];
  const quote = letters.slice(0, LONGEST_QUOTE).join('');
  return {
    ...eventOf('review', _id.toHexString()),
    subject: `a new review, ${rating} of 5 stars`,
    paragraphs: [
      quote
        ? `${username} writes: “${quote}${letters.length > LONGEST_QUOTE ? '…' : ''}”`
        : `${username} gave ${rating} of 5 stars, without a text.`,
      'You can answer it here:',
    ],
    part: '/reviews',
  };
}
