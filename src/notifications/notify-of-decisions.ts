import { notificationTime, votes } from '../events/event-text.ts';
import type { WithId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import type { Review } from '../reviews/review.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
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

/** Owners are not notified of a quarantine that is lifted: they were not notified of its beginning either. */
export async function notifyOfExclusions(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const at = { $gt: after(deps.clock.now(), -NEWLY_MS) };
  const excluded = {
    at,
    state: 'excluded',
    votes: { $gt: 0 },
    told: { $exists: false },
    // Votes of a blocked name are excluded as they are cast.
    blockId: { $exists: false },
  } as const;
  let written = 0;
  for (const due of [excluded, { told: 'excluded', state: 'included' } as const]) {
    for await (const exclusion of deps.voteExclusions.find(due)) {
      if (stop.aborted) return written;
      written += await forServer(deps, exclusion.serverId, () => notifyOfExclusion(deps, exclusion));
    }
  }
  return written;
}

async function notifyOfExclusion(deps: NotificationsDeps, exclusion: VoteExclusion): Promise<number> {
  const { _id, serverId, state } = exclusion;
  const event = state === 'excluded' ? 'excluded' : 'included';
  const audience = await audienceOf(deps, serverId);
  const result = audience && (await notify(deps, audience, 'exclusion', exclusionText(exclusion, event)));
  await deps.voteExclusions.updateOne({ _id }, { $set: { told: event } });
  return result === 'written' ? 1 : 0;
}

function exclusionText(exclusion: VoteExclusion, event: 'excluded' | 'included'): NotificationText {
  const { _id, since, until, username, reasonForOwner } = exclusion;
  const number = exclusion.votes ?? 0;
  const whose = username ? ` of the player “${username}”` : '';
  // If all votes of a player are excluded, the range begins in 1970.
  const when =
    since.getTime() === 0
      ? `before ${notificationTime(until)}`
      : `from ${notificationTime(since)} to ${notificationTime(until)}`;
  const range = `${votes(number)}${whose} that ${number === 1 ? 'was' : 'were'} cast ${when}`;
  const isExcluded = event === 'excluded';
  return {
    ...eventOf(event, _id.toHexString()),
    subject: isExcluded ? `${votes(number)} excluded` : `${votes(number)} counted again`,
    paragraphs: [
      isExcluded
        ? `An operator of this listing excluded ${range}. They no longer count for the rank and the statistics. If you think that this is wrong, write to the operator.`
        : `An operator of this listing counts ${range} again.`,
      ...(isExcluded && reasonForOwner ? [`The operator’s reason: “${reasonForOwner}”`] : []),
      'The votes:',
    ],
    part: '/votes',
  };
}
