import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { hasDecided, moderateReview, moderateReviews } from '../../reviews/moderate-review.ts';
import { listReviewsInState } from '../../reviews/read-reviews.ts';
import { REVIEW_STATES, type ReviewState } from '../../reviews/review.ts';
import { isId } from '../../servers/slug.ts';
import { OPERATOR } from '../route-options.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { allValues, queryOf, queryText } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, notice, tabs } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import {
  aboutReviews,
  approveMany,
  decisionNotice,
  manyNotice,
  type ReviewView,
  reviewCard,
  seenReviews,
  TABS,
} from './review-card.ts';

const ROWS = 20;

const decisionForm = z.object({
  state: z.enum(REVIEW_STATES),
  seenAs: z.enum(REVIEW_STATES),
  revision: z.coerce.number().int().min(0),
  reason: z.string().optional(),
  reasonForOwner: z.string().optional(),
});

export function adminReviewPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/reviews', OPERATOR, async (request, reply) => {
    const { state: wanted, from, done, review } = queryOf(request);
    const state = REVIEW_STATES.find((one) => one === wanted) ?? 'pending';
    const { rows, next } = await listReviewsInState(deps, state, { from, limit: ROWS });
    const { servers, reviewers } = await aboutReviews(deps, rows);
    const decided =
      done && review && isId(review) ? await deps.reviews.findOne({ _id: new ObjectId(review) }) : null;
    const view: ReviewView = { base, now: deps.clock.now(), servers };
    const cards = rows.map((row, i) => reviewCard(view, row, reviewers[i], i === 0));
    const page = adminPage({
      base,
      part: '/reviews',
      title: 'Reviews',
      body: html`${done === 'none-selected' ? notice('attention', 'Select the reviews to approve first.') : ''}
          ${decided ? decisionNotice(base, decided, { meanwhile: done === 'meanwhile' }) : ''}
          ${done === 'many' ? manyNotice(queryOf(request)) : ''}
          ${stateTabs(base, state)}
          ${rows.length === 0 ? emptyLine(EMPTY[state]) : cards}
          ${state === 'pending' && rows.length > 1 ? approveMany(base) : ''}
          ${cursorPager(adminPath(base, '/reviews'), { from, next }, queryOfState(state))}`,
    });
    return sendPage(request, reply, page);
  });

  formRoute(app, {
    path: '/reviews/approve',
    access: OPERATOR,
    run: async ({ request, by }) => {
      const seen = seenReviews(allValues(request, 'review'));
      if (seen.length === 0) return `${adminPath(base, '/reviews')}?done=none-selected`;
      const approved = await moderateReviews(deps, seen, 'approved', by, { seenAs: 'pending' });
      const values = { done: 'many', approved: String(approved.length), of: String(seen.length) };
      return `${adminPath(base, '/reviews')}${queryText(values)}`;
    },
  });

  formRoute(app, {
    path: '/reviews/:reviewId',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ request, by, data }) => {
      const reviewId = idParam(request, 'reviewId');
      const { state, seenAs, revision, reason, reasonForOwner } = data;
      if (state === 'rejected' && !reason?.trim()) return refused(400, 'Enter a reason for the rejection.');
      const given = state === 'rejected' && reason ? { reason, reasonForOwner } : {};
      const seen = { seenAs, revision, ...given };
      const review = await moderateReview(deps, reviewId, state, by, seen);
      if (!review) return refused(404, 'This review does not exist.');
      const done = hasDecided(review, state, by) ? state : 'meanwhile';
      const decided = { done, review: reviewId.toHexString() };
      const back = { state: seenAs === 'pending' ? undefined : seenAs, ...decided };
      return `${adminPath(base, '/reviews')}${queryText(back)}#next`;
    },
  });
}

const EMPTY: Record<ReviewState, string> = {
  pending: 'No reviews are waiting.',
  approved: 'No approved reviews yet.',
  rejected: 'No rejected reviews.',
};

const queryOfState = (state: ReviewState) => ({ state: state === 'pending' ? undefined : state });

function stateTabs(base: string, state: ReviewState): Html {
  const href = (one: ReviewState) => adminPath(base, `/reviews${queryText(queryOfState(one))}`);
  return tabs(
    'Reviews by state',
    REVIEW_STATES.map((one) => ({ href: href(one), text: TABS[one] })),
    href(state),
  );
}
