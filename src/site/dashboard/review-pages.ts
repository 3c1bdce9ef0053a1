import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, t } from '../../language/t.ts';
import { answerReview, LONGEST_ANSWER, removeAnswer } from '../../reviews/answer-review.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import type { Review } from '../../reviews/review.ts';
import type { Server } from '../../servers/server.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { errorsOf, type Typed, typedValues } from '../shared/form.ts';
import { count } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, confirmed, pager, textArea } from '../shared/parts.ts';
import { pageFrom, REVIEWS_A_PAGE, reviewItem, spreadCard } from '../shared/review-parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { idOf } from './draft-pages.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  answered: defineMessage('Answer published.'),
  'answer-removed': defineMessage('Answer removed.'),
};

/** `/dashboard/servers/<id>/reviews`: the approved reviews and the owner's answers. */
export function reviewPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  const show = async (request: FastifyRequest, reply: FastifyReply, wrong?: RejectedAnswer) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const page = pageOf(request);
    const found = await readAnswered(deps, server._id, { page, limit: REVIEWS_A_PAGE });
    const path = serverPath(base, server, '/reviews');
    const body = html`${spreadCard(found)}
      ${card({
        title: t('Reviews'),
        body:
          found.reviews.length === 0
            ? html`<div class="empty">${page > 1 ? t('There are no reviews on this page.') : t('No public reviews yet. New reviews appear here after an operator approves them.')}</div>`
            : html`<ol class="reviews">${found.reviews.map((review) => answerable({ path, page, review, server, now, wrong }))}</ol>`,
      })}
      ${pager({
        newer: page > 1 ? `${path}?page=${page - 1}` : undefined,
        older: page < found.totalPages ? `${path}?page=${page + 1}` : undefined,
      })}`;
    return sendPage(
      request,
      reply,
      {
        title: `${t('Reviews')} · ${server.name}`,
        messages: MESSAGES,
        body: serverFrame({ site: app.site, server, now, part: '/reviews', body }),
      },
      wrong ? 400 : 200,
    );
  };

  app.get('/servers/:serverId/reviews', OWNER, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/reviews/:reviewId/answer', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const reviewId = reviewIdOf(request);
    const values = typedValues(request);
    const answer = values.answer ?? '';
    try {
      const wanted = { serverId: server._id, reviewId, answer };
      if (!(await answerReview(deps, wanted, userOf(request).email))) throw noReview();
    } catch (error) {
      if (error instanceof PageError) throw error;
      return show(request, reply, { reviewId, typed: errorsOf(error, values) });
    }
    return reply.redirect(back(base, server, reviewId, pageOf(request), 'answered'), 303);
  });

  app.post('/servers/:serverId/reviews/:reviewId/remove-answer', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const reviewId = reviewIdOf(request);
    const removed = await removeAnswer(deps, { serverId: server._id, reviewId }, userOf(request).email);
    if (!removed) throw noReview();
    return reply.redirect(back(base, server, reviewId, pageOf(request), 'answer-removed'), 303);
  });
}

type RejectedAnswer = { reviewId: ObjectId; typed: Typed };

function back(base: string, server: WithId<Server>, reviewId: ObjectId, page: number, done: string): string {
  return `${serverPath(base, server, '/reviews')}?page=${page}&done=${done}#review-${reviewId.toHexString()}`;
}

function pageOf(request: FastifyRequest): number {
  return pageFrom((request.query as { page?: unknown }).page);
}

function noReview(): PageError {
  return new PageError(404, t('This server has no public review with this id.'));
}

function reviewIdOf(request: FastifyRequest): ObjectId {
  const reviewId = idOf((request.params as { reviewId?: string }).reviewId);
  if (!reviewId) throw noReview();
  return reviewId;
}

type Item = {
  path: string;
  page: number;
  review: WithId<Review>;
  server: WithId<Server>;
  now: Date;
  wrong: RejectedAnswer | undefined;
};

function answerable({ path, page, review, server, now, wrong }: Item): Html {
  const { _id } = review;
  const forms = { path: `${path}/${_id.toHexString()}`, page, review };
  return reviewItem({
    review,
    server,
    now,
    more: answerForms({ ...forms, wrong: wrong?.reviewId.equals(_id) ? wrong.typed : undefined }),
  });
}

function answerForms({
  path,
  page,
  review,
  wrong,
}: {
  path: string;
  page: number;
  review: WithId<Review>;
  wrong: Typed | undefined;
}): Html {
  const { username, answer, _id } = review;
  // Each field of a page needs its own id.
  const field = textArea({
    name: 'answer',
    id: `answer-${_id.toHexString()}`,
    label: t('Your answer'),
    hint: t('Published at once. Up to {characters} characters.', {
      characters: count(LONGEST_ANSWER),
    }),
    rows: 4,
    required: true,
    value: wrong?.values.answer ?? answer?.text ?? '',
    error: wrong?.errors.answer,
  });
  return html`<div class="actions">
    <details ${wrong ? 'open' : ''}><summary class="button quiet">${answer ? t('Edit your answer') : t('Answer')}<span class="for-readers"> ${t('to {username}', { username })}</span></summary>
      <form method="post" action="${path}/answer?page=${String(page)}" class="stack answer-form">
        ${field}
        <button type="submit">${answer ? t('Save answer') : t('Publish answer')}</button>
      </form>
    </details>
    ${answer ? confirmed({ text: t('Remove your answer'), of: t('to {username}', { username }), consequence: t('Your answer is deleted and no longer public.'), form: button({ to: `${path}/remove-answer?page=${page}`, text: t('Remove answer'), kind: 'danger' }) }) : ''}
  </div>`;
}
