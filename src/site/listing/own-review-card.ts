import { html } from 'hono/html';
import type { WithId } from 'mongodb';
import type { User } from '../../accounts/user.ts';
import type { WhyNot } from '../../reviews/own-review.ts';
import { RATINGS, type Review, type ReviewState } from '../../reviews/review.ts';
import { LONGEST_REVIEW } from '../../reviews/write-review.ts';
import type { Server } from '../../servers/server.ts';
import { LONGEST_USERNAME } from '../../votes/username.ts';
import { type Typed, UNTOUCHED } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { badge, button, card, confirmed, notice, select, textArea, textField } from '../parts.ts';
import { reviewWords, starsText } from '../review-parts.ts';
import { publicPath } from '../server-paths.ts';
import { count, counted } from '../words.ts';

/** Somebody who is signed in and reads a server's page. */
export type Reader = {
  user: User;
  /** Whether the server's dashboard is theirs to open. */
  dashboard: boolean;
  /** What they wrote of the server. */
  review: WithId<Review> | null;
  whyNot: WhyNot | null;
  /** A review that was sent and is not right yet. */
  typed: Typed | undefined;
};

export const WHY_NOT: Record<WhyNot, string> = {
  'own-server': 'This server is yours: others review it.',
  unconfirmed: 'Confirm your e-mail address first; then you can write a review.',
};

/** Where somebody reviews a server, or sees what became of their review of it. */
export function ownReviewCard(base: string, server: WithId<Server>, reader: Reader | null, now: Date): Html {
  const path = `${base}${publicPath(server)}`;
  return card({
    id: 'your-review',
    title: 'Your review',
    body: reader
      ? html`${reader.review ? existing(server, reader.review, now) : ''}${writing(path, server, reader)}`
      : html`<p><a href="${base}/sign-in?next=${encodeURIComponent(`${path}/review`)}">Sign in</a> or <a href="${base}/sign-up?next=${encodeURIComponent(`${path}/review`)}">sign up</a> to write one.</p>`,
  });
}

const STANDS: Record<ReviewState, [tone: 'attention' | 'good' | 'bad', word: string, sentence: string]> = {
  pending: ['attention', 'waits for approval', 'Only you see it until an operator has approved it.'],
  approved: ['good', 'public', 'Everybody sees it.'],
  rejected: [
    'bad',
    'not approved',
    'An operator decided that it does not become public; the reason is not told. You may change it.',
  ],
};

function existing(server: WithId<Server>, review: WithId<Review>, now: Date): Html {
  const [tone, word, sentence] = STANDS[review.state];
  return html`<p>${badge(tone, word)} <span class="soft">${sentence}</span></p>
    <p>${starsText(review.rating)} <bdi><strong>${review.username}</strong></bdi></p>
    ${reviewWords(review, server, now)}`;
}

/** What may be done: a first review, or a change or the end of the one that stands. */
function writing(path: string, server: WithId<Server>, reader: Reader): Content {
  const { review, whyNot, typed } = reader;
  const form = whyNot ? '' : reviewForm(`${path}/review#your-review`, server, reader);
  const why = whyNot ? html`<p class="soft">${WHY_NOT[whyNot]}</p>` : '';
  if (!review) return html`${why}${form}`;
  return html`${why}<div class="actions">
    ${form ? html`<details class="confirm" ${typed ? 'open' : ''}><summary class="button quiet">Change your review</summary>${form}</details>` : ''}
    ${confirmed({ text: 'Delete your review', consequence: 'It is gone for everybody, with the answer to it.', form: button({ to: `${path}/review/delete`, text: 'Delete it', kind: 'danger' }) })}
  </div>`;
}

function reviewForm(action: string, { name }: WithId<Server>, { user, review, typed }: Reader): Html {
  const { values, errors } = typed ?? UNTOUCHED;
  const shownName = review?.username ?? [...user.name].slice(0, LONGEST_USERNAME).join('');
  const stars = RATINGS.toReversed().map((one): [string, string] => [String(one), counted(one, 'star')]);
  return html`<form method="post" action="${action}" class="stack ${review ? 'answer-form' : ''}">
    ${typed ? notice('bad', errors.form ?? 'The review is not kept yet: see below.') : ''}
    ${select({ name: 'rating', label: html`Stars for <bdi>${name}</bdi>`, required: true, value: values.rating ?? (review ? String(review.rating) : ''), options: [['', 'Choose'], ...stars], error: errors.rating })}
    ${textArea({ name: 'content', id: 'review-content', label: 'What should others know?', hint: `Up to ${count(LONGEST_REVIEW)} characters; it may be empty.`, rows: 5, value: values.content ?? review?.content ?? '', error: errors.content })}
    ${textField({ name: 'username', label: 'Name shown with it', required: true, value: values.username ?? shownName, error: errors.username, spellcheck: false })}
    <p class="hint">An operator reads it before it becomes public${review ? ', each time that it is changed' : ''}.</p>
    <button type="submit">${review ? 'Save the changes' : 'Send the review'}</button>
  </form>`;
}
