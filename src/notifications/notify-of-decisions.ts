import type { WithId } from 'mongodb';
import { notificationTime, votes } from '../events/event-text.ts';
import { t } from '../language/t.ts';
import { after, DAY } from '../platform/clock.ts';
import type { Review } from '../reviews/review.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import { audienceOf } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import type { Notification } from './notification-text.ts';
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
  const isNew = audience && (await notify(deps, audience, reviewNotification(review)));
  await deps.reviews.updateOne({ _id: review._id }, { $set: { toldAt: deps.clock.now() } });
  return isNew ? 1 : 0;
}

function reviewNotification({ _id, username, rating, content }: WithId<Review>): Notification {
  const letters = [...(content ?? '').replace(/\s+/g, ' ').trim()];
  const quote = letters.slice(0, LONGEST_QUOTE).join('');
  const said = () =>
    quote
      ? t('{username} writes: “{quote}”', {
          username,
          quote: `${quote}${letters.length > LONGEST_QUOTE ? '…' : ''}`,
        })
      : t('{username} gave {rating} of 5 stars, without a text.', { username, rating });
  return {
    name: 'review',
    about: _id.toHexString(),
    mail: () => ({
      subject: t('a new review, {rating} of 5 stars', { rating }),
      paragraphs: [said(), t('You can answer it here:')],
      part: '/reviews',
    }),
    data: { rating },
    reviewId: _id,
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
  const decision = state === 'excluded' ? 'excluded' : 'included';
  const audience = await audienceOf(deps, serverId);
  const isNew = audience && (await notify(deps, audience, exclusionNotification(exclusion, decision)));
  await deps.voteExclusions.updateOne({ _id }, { $set: { told: decision } });
  return isNew ? 1 : 0;
}

type Decision = 'excluded' | 'included';

function exclusionNotification(exclusion: VoteExclusion, decision: Decision): Notification {
  const { _id, username, reasonForOwner } = exclusion;
  const number = exclusion.votes ?? 0;
  const reason = () =>
    decision === 'excluded' && reasonForOwner
      ? [t('The operator’s reason: “{reason}”', { reason: reasonForOwner })]
      : [];
  const text = (more: string[], player?: string | null) => ({
    subject:
      decision === 'excluded'
        ? t('{votes} excluded', { votes: votes(number) })
        : t('{votes} counted again', { votes: votes(number) }),
    paragraphs: [exclusionSentence(exclusion, decision, player), ...more, t('The votes:')],
    part: '/votes',
  });
  return {
    name: decision,
    about: _id.toHexString(),
    mail: () => text(reason(), username),
    text: text([]),
    data: { votes: number, decision },
  };
}

function exclusionSentence(exclusion: VoteExclusion, decision: Decision, player?: string | null): string {
  const { since, until } = exclusion;
  // If all votes of a player are excluded, the range begins in 1970.
  const when =
    since.getTime() === 0
      ? t('before {time}', { time: notificationTime(until) })
      : t('from {since} to {until}', { since: notificationTime(since), until: notificationTime(until) });
  const about = { votes: votes(exclusion.votes ?? 0), when };
  if (decision === 'included')
    return player
      ? t('An operator of this listing counts {votes} of the player “{player}” again, cast {when}.', {
          ...about,
          player,
        })
      : t('An operator of this listing counts {votes} again, cast {when}.', about);
  const excluded = player
    ? t('An operator of this listing excluded {votes} of the player “{player}”, cast {when}.', {
        ...about,
        player,
      })
    : t('An operator of this listing excluded {votes}, cast {when}.', about);
  return `${excluded} ${t('They no longer count for the rank and the statistics. If you think that this is wrong, write to the operator.')}`;
}
