import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import { answerReview, LONGEST_ANSWER, removeAnswer } from '../../reviews/answer-review.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import type { Review } from '../../reviews/review.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { count } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, confirmed, pager } from '../shared/parts.ts';
import { pageFrom, REVIEWS_A_PAGE, reviewItem, spreadCard } from '../shared/review-parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  answered: defineMessage('Answer published.'),
  'answer-removed': defineMessage('Answer removed.'),
};

/** `/dashboard/servers/<id>/reviews`: the approved reviews, and the forms for the owner's answers. */
export function reviewPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  const show = async (request: FastifyRequest, wrong?: RejectedAnswer): Promise<Page> => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const page = pageOf(request);
    const found = await readAnswered(deps, server._id, { page, limit: REVIEWS_A_PAGE });
    const path = serverPath(base, server, '/reviews');
    const reviews = found.reviews.map((review) => {
      const { _id } = review;
      const typed = wrong?.reviewId.equals(_id) ? wrong.typed : undefined;
      const more = answerForms(`${path}/${_id.toHexString()}`, page, review, typed);
      return reviewItem({ review, server, now, more });
    });
    const empty =
      page > 1
        ? t('There are no reviews on this page.')
        : t('No public reviews yet. New reviews appear here after an operator approves them.');
    const body = html`${spreadCard(found)}
      ${card({
        title: t('Reviews'),
        body: reviews.length === 0 ? emptyLine(empty) : html`<ol class="reviews">${reviews}</ol>`,
      })}
      ${pager({
        newer: page > 1 ? `${path}?page=${page - 1}` : undefined,
        older: page < found.totalPages ? `${path}?page=${page + 1}` : undefined,
      })}`;
    return {
      title: `${t('Reviews')} · ${server.name}`,
      messages: MESSAGES,
      ...serverFrame({ site: app.site, deps, server, now, part: '/reviews', body }),
    };
  };

  /** The review on its page of the list. */
  const back = (request: FastifyRequest, reviewId: ObjectId, done: keyof typeof MESSAGES) =>
    `${serverPath(base, serverOf(request), '/reviews')}?page=${pageOf(request)}&done=${done}#review-${reviewId.toHexString()}`;

  app.get('/servers/:serverId/reviews', OWNER, async (request, reply) =>
    sendPage(request, reply, await show(request)),
  );

  formRoute(app, {
    path: '/servers/:serverId/reviews/:reviewId/answer',
    access: OWNER,
    schema: z.object({ answer: fieldText }),
    show: (request, typed) => show(request, { reviewId: idParam(request, 'reviewId'), typed }),
    run: async ({ request, server, by, data: { answer } }) => {
      const reviewId = idParam(request, 'reviewId');
      const isAnswered = await answerReview(deps, { serverId: server._id, reviewId, answer }, by);
      return isAnswered ? back(request, reviewId, 'answered') : noReview();
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/reviews/:reviewId/remove-answer',
    access: OWNER,
    run: async ({ request, server, by }) => {
      const reviewId = idParam(request, 'reviewId');
      const isFound = await removeAnswer(deps, { serverId: server._id, reviewId }, by);
      return isFound ? back(request, reviewId, 'answer-removed') : noReview();
    },
  });
}

type RejectedAnswer = { reviewId: ObjectId; typed: Typed };

function pageOf(request: FastifyRequest): number {
  return pageFrom((request.query as { page?: unknown }).page);
}

function noReview(): RefusedForm {
  return refused(404, t('This server has no public review with this id.'));
}

function answerForms(
  path: string,
  page: number,
  { username, answer, _id }: WithId<Review>,
  wrong: Typed | undefined,
): Html {
  // The page has one such field for each review, so each field gets its own id.
  const field = fieldsOf(wrong ?? UNTOUCHED).area('answer', {
    id: `answer-${_id.toHexString()}`,
    label: t('Your answer'),
    hint: t('Published at once. Up to {characters} characters.', { characters: count(LONGEST_ANSWER) }),
    rows: 4,
    required: true,
    value: answer?.text ?? '',
  });
  const whose = t('to {username}', { username });
  const removal = confirmed({
    text: t('Remove your answer'),
    of: whose,
    consequence: t('Your answer is deleted and no longer public.'),
    form: button({ to: `${path}/remove-answer?page=${page}`, text: t('Remove answer'), kind: 'danger' }),
  });
  return html`<div class="actions">
    <details ${wrong ? 'open' : ''}>
      <summary class="button quiet">
        ${answer ? t('Edit your answer') : t('Answer')}<span class="for-readers"> ${whose}</span>
      </summary>
      <form method="post" action="${path}/answer?page=${String(page)}" class="stack answer-form">
        ${field}
        <button type="submit">${answer ? t('Save answer') : t('Publish answer')}</button>
      </form>
    </details>
    ${answer ? removal : ''}
  </div>`;
}
