import type { WithId } from 'mongodb';
import type { User } from '../../accounts/user.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { WhyNot } from '../../reviews/own-review.ts';
import { RATINGS, type Review } from '../../reviews/review.ts';
import { LONGEST_REVIEW } from '../../reviews/write-review.ts';
import type { Server } from '../../servers/server.ts';
import { LONGEST_USERNAME } from '../../votes/username.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { count, counted } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, confirmed, linkTo, PLAYER_NAME } from '../shared/parts.ts';
import { reviewState, reviewText, starsText } from '../shared/review-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { writtenLine } from '../shared/written-text.ts';

export type Reader = {
  user: User;
  dashboard: boolean;
  isFavourite: boolean;
  review: WithId<Review> | null;
  whyNot: WhyNot | null;
  /** The values of a review form that is open: `UNTOUCHED`, or those that were refused. */
  typed: Typed | undefined;
};

export const WHY_NOT: Record<WhyNot, Text> = {
  'own-server': defineMessage('You cannot review your own server.'),
  unconfirmed: defineMessage('Confirm your e-mail address to write a review.'),
};

/** The end of the reviews. Its form is closed unless it was refused, or the user came for it. */
export function ownReview(base: string, server: WithId<Server>, reader: Reader | null, now: Date): Html {
  const path = `${base}${publicPath(server)}`;
  if (!reader)
    return html`<p id="your-review">${t('<a>Sign in</a> or <a2>sign up</a2> to write a review.', {
      a: linkTo(`${base}/sign-in?next=${encodeURIComponent(`${path}/review`)}`),
      a2: linkTo(`${base}/sign-up?next=${encodeURIComponent(`${path}/review`)}`),
    })}</p>`;
  return html`<div class="own-review" id="your-review"><h3>${t('Your review')}</h3>
    ${reader.review ? existing(server, reader.review, now) : ''}${reviewActions(path, server, reader)}</div>`;
}

/** In the head of the reviews. A user who may write arrives at the open form. */
export function reviewLink(base: string, server: WithId<Server>, reader: Reader | null): Html {
  const href = reader && !reader.whyNot ? `${base}${publicPath(server, '/review')}` : '#your-review';
  const text = reader?.review ? t('Your review') : t('Write a review');
  return html`<a class="button quiet" href="${href}">${text}</a>`;
}

function existing(server: WithId<Server>, review: WithId<Review>, now: Date): Html {
  return html`${reviewState(review)}
    <p>${starsText(review.rating)} <strong>${writtenLine(review.username)}</strong></p>
    ${reviewText(review, server, now)}`;
}

function reviewActions(path: string, server: WithId<Server>, reader: Reader): Content {
  const { review, whyNot, typed } = reader;
  const form = whyNot ? '' : reviewForm(`${path}/review`, server, reader);
  const why = whyNot ? html`<p class="soft">${t(WHY_NOT[whyNot])}</p>` : '';
  if (!review) return html`${why}${form && opened(t('Review form'), form, typed)}`;
  return html`${why}<div class="actions">
    ${form && opened(t('Edit your review'), form, typed)}
    ${confirmed({
      text: t('Delete your review'),
      consequence: t('This deletes your review and the owner’s answer. It cannot be undone.'),
      form: button({ to: `${path}/review/delete`, text: t('Delete review'), kind: 'danger' }),
    })}
  </div>`;
}

function opened(title: string, form: Html, typed: Typed | undefined): Html {
  return html`<details class="confirm" ${typed ? 'open' : ''}><summary class="button quiet">${title}</summary>
    ${form}</details>`;
}

function reviewForm(action: string, { name }: WithId<Server>, { user, review, typed }: Reader): Html {
  const fields = fieldsOf(typed ?? UNTOUCHED);
  const shownName = review?.username ?? [...user.name].slice(0, LONGEST_USERNAME).join('');
  const stars = RATINGS.toReversed().map((one): [string, string] => [String(one), counted(one, 'star')]);
  const approval = review
    ? t('An operator approves your review before it is public, also after each edit.')
    : t('An operator approves your review before it is public.');
  return html`<form method="post" action="${action}" class="stack ${review ? 'answer-form' : ''}">
    ${fields.select('rating', {
      id: 'review-rating',
      label: html`${t('Stars for <bdi>{name}</bdi>', { name })}`,
      required: true,
      value: review ? String(review.rating) : '',
      options: [['', t('Choose')], ...stars],
    })}
    ${fields.area('content', {
      id: 'review-content',
      label: t('Review (optional)'),
      hint: t('Up to {characters} characters.', { characters: count(LONGEST_REVIEW) }),
      rows: 5,
      value: review?.content ?? '',
    })}
    ${fields.text('username', {
      id: 'review-username',
      label: t('Displayed name'),
      required: true,
      value: shownName,
      ...PLAYER_NAME,
    })}
    <p class="hint">${approval}</p>
    <button type="submit">${review ? t('Save changes') : t('Submit review')}</button>
  </form>`;
}
