import type { WithId } from 'mongodb';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Review, ReviewState } from '../../reviews/review.ts';
import type { Reviewer } from '../../reviews/reviewers.ts';
import type { Server } from '../../servers/server.ts';
import { count, counted, decimal, oneDecimal, timeAgo } from './format.ts';
import { face } from './generated-pictures.ts';
import { type Content, type Html, html } from './html.ts';
import { badge, forReaders } from './parts.ts';
import { writtenLine, writtenText } from './written-text.ts';

export const REVIEWS_A_PAGE = 10;
const LAST_PAGE = 1_000_000;

export function pageFrom(given: unknown, otherwise = 1): number {
  const page = Number(given ?? otherwise);
  return Number.isInteger(page) && page >= 1 && page <= LAST_PAGE ? page : otherwise;
}

type Spread = { total: number; averageRating: number; spread: number[] };

export function spreadCard(found: Spread): Content {
  return found.total === 0 ? '' : html`<section class="card">${spreadOf(found)}</section>`;
}

export function spreadOf({ total, averageRating, spread }: Spread): Html {
  const rows = spread.map((votes, index) => ({ stars: index + 1, votes })).toReversed();
  const average = t('{average} of 5 stars', { average: decimal(averageRating) });
  const reviews = t('{reviews} in all', { reviews: counted(total, 'review') });
  return html`<div class="score">
    <p class="score-number"><span aria-hidden="true">${oneDecimal(averageRating)}</span>${forReaders(
      html`${average}`,
    )}</p>
    <div>${starsText(Math.round(averageRating), true)} <span class="soft small">${reviews}</span>
    <table class="spread">
      <caption class="for-readers">${t('Reviews by rating')}</caption>
      <tbody>${rows.map(
        ({ stars, votes }) => html`<tr><th scope="row">${counted(stars, 'star')}</th>
          <td><meter min="0" max="${String(total)}" value="${String(votes)}">${count(votes)}</meter></td>
          <td class="number">${count(votes)}</td></tr>`,
      )}</tbody>
    </table></div></div>`;
}

/** `isSaid`: a text beside the stars says the rating, so screen readers get no text. */
export function starsText(rating: number, isSaid = false): Html {
  const stars = `${'★'.repeat(rating)}${'☆'.repeat(5 - rating)}`;
  const words = isSaid ? '' : forReaders(html`${t('{stars} of 5', { stars: counted(rating, 'star') })}`);
  return html`<span class="stars"><span aria-hidden="true">${stars}</span>${words}</span>`;
}

export function reviewItem({
  review,
  server,
  now,
  reviewer,
  more,
  withFace,
}: {
  review: WithId<Review>;
  server: Pick<Server, 'name'>;
  now: Date;
  reviewer?: ShownReviewer | undefined;
  more?: Content;
  /** Whether the author has a face, on pages with public.css. */
  withFace?: boolean;
}): Html {
  const { _id, rating, username } = review;
  const badges = reviewer ? reviewerBadges(reviewer) : '';
  return html`<li id="review-${_id.toHexString()}">
    ${withFace ? face(username, 40) : ''}
    <p class="by"><strong>${writtenLine(username)}</strong> ${starsText(rating)}
      ${reviewTimes(review, now)}${badges}</p>
    ${reviewText(review, server, now)}
    ${more}
  </li>`;
}

export function reviewTimes(
  { createdAt, editedAt }: Pick<Review, 'createdAt' | 'editedAt'>,
  now: Date,
): Html {
  const edited = editedAt ? html`, ${t('edited {time}', { time: timeAgo(editedAt, now) })}` : '';
  return html`<span class="soft small">${timeAgo(createdAt, now)}${edited}</span>`;
}

function reviewerBadges({ isNewAccount, hasVoted }: ShownReviewer): Content {
  return [
    hasVoted ? html` ${badge('good', t('has voted'))}` : '',
    isNewAccount ? html` ${badge('attention', t('new account'))}` : '',
  ];
}

type ShownReviewer = Pick<Reviewer, 'isNewAccount' | 'hasVoted'>;

const STATES: Record<ReviewState, [tone: 'attention' | 'good' | 'bad', word: Text, sentence: Text]> = {
  pending: [
    'attention',
    defineMessage('waiting for approval'),
    defineMessage('Only you can see it until an operator approves it.'),
  ],
  approved: ['good', defineMessage('public'), defineMessage('Everyone can see it.')],
  rejected: [
    'bad',
    defineMessage('not approved'),
    defineMessage('An operator did not approve your review. You can edit it and send it again.'),
  ],
};

export function reviewState({ state, rejectionReason }: Pick<Review, 'state' | 'rejectionReason'>): Html {
  const [tone, word, sentence] = STATES[state];
  const reason = state === 'rejected' && rejectionReason ? html` “<bdi>${rejectionReason}</bdi>”` : '';
  return html`<p>${badge(tone, t(word))} <span class="soft">${t(sentence)}${reason}</span></p>`;
}

export function reviewText(
  { content, answer, editedAt }: Review,
  server: Pick<Server, 'name'>,
  now: Date,
): Html {
  const text = content ? writtenText(content) : html`<p class="soft">${t('Rating only.')}</p>`;
  if (!answer) return text;
  const facts = { server: server.name, time: timeAgo(answer.at, now) };
  const from =
    editedAt && answer.at < editedAt
      ? t('Answer from <bdi>{server}</bdi>, {time}, before the review was edited', facts)
      : t('Answer from <bdi>{server}</bdi>, {time}', facts);
  return html`${text}
    <div class="answer">
      <p class="small soft">${from}</p>
      ${writtenText(answer.text)}
    </div>`;
}
