import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { moderateReview, moderateReviews } from '../../reviews/moderate-review.ts';
import { listReviewsInState } from '../../reviews/read-reviews.ts';
import { REVIEW_STATES, type ReviewState } from '../../reviews/review.ts';
import { reviewerOf } from '../../reviews/reviewers.ts';
import { isId } from '../../servers/slug.ts';
import { OPERATOR } from '../route-options.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { allValues, queryOf, queryText } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, notice, tabs } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { inboxPath } from './inbox/inbox-tabs.ts';
import { decisionNotice, type ReviewView, reviewCard, serversOfReviews, TABS } from './review-card.ts';
import { approveMany, manyNotice, seenReviews } from './review-selection.ts';

/** Reviews per page. */
const ROWS = 20;

const decisionForm = z.object({
  state: z.enum(REVIEW_STATES),
  seenAs: z.enum(REVIEW_STATES),
  revision: z.coerce.number().int().min(0),
  reason: z.string().optional(),
  reasonForOwner: z.string().optional(),
  list: z.literal('inbox').optional(),
});

/** `/operator/reviews`: pending reviews, oldest first, and decided reviews with a button to undo the decision. */
export function adminReviewPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/reviews', OPERATOR, async (request, reply) => {
    const { state: wanted, from, done, review } = queryOf(request);
    const state = REVIEW_STATES.find((one) => one === wanted) ?? 'pending';
    const { rows, next } = await listReviewsInState(deps, state, { from, limit: ROWS });
    const [servers, reviewers] = await Promise.all([
      serversOfReviews(deps, rows),
      Promise.all(rows.map((row) => reviewerOf(deps, row))),
    ]);
    const decided = done && review && isId(review) ? await decidedReview(deps, review) : null;
    const view: ReviewView = { base, now: deps.clock.now(), servers, list: undefined };
    const cards = rows.map((row, i) => reviewCard(view, row, reviewers[i], i === 0));
    return sendPage(request, reply, {
      title: 'Reviews',
      ...adminFrame({
        base,
        part: '/reviews',
        body: html`${done === 'none-selected' ? notice('attention', 'Select the reviews to approve first.') : ''}
          ${decided ? decisionNotice(base, decided, { meanwhile: done === 'meanwhile', list: undefined }) : ''}
          ${done === 'many' ? manyNotice(queryOf(request)) : ''}
          ${stateTabs(base, state)}
          ${rows.length === 0 ? emptyLine(EMPTY[state]) : cards}
          ${state === 'pending' && rows.length > 1 ? approveMany(base) : ''}
          ${cursorPager(adminPath(base, '/reviews'), { from, next }, queryOfState(state))}`,
      }),
    });
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
      const { state, seenAs, revision, reason, reasonForOwner, list } = data;
      if (state === 'rejected' && !reason?.trim()) return refused(400, 'Enter a reason for the rejection.');
      const given = state === 'rejected' && reason ? { reason, reasonForOwner } : {};
      const seen = { seenAs, revision, ...given };
      const review = await moderateReview(deps, reviewId, state, by, seen);
      if (!review) return refused(404, 'This review does not exist.');
      // The redirect goes to the list from which the form was sent.
      const done = review.state === state ? state : 'meanwhile';
      const decided = { done, review: reviewId.toHexString() };
      if (list === 'inbox') return inboxPath(base, 'reviews', decided);
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

function decidedReview({ reviews }: AdminParts['deps'], reviewId: string) {
  return reviews.findOne({ _id: new ObjectId(reviewId) });
}

const queryOfState = (state: ReviewState) => ({ state: state === 'pending' ? undefined : state });

function listPath(base: string, state: ReviewState): string {
  return adminPath(base, `/reviews${queryText(queryOfState(state))}`);
}

function stateTabs(base: string, state: ReviewState): Html {
  return tabs(
    'Reviews by state',
    REVIEW_STATES.map((one) => ({ href: listPath(base, one), text: TABS[one] })),
    listPath(base, state),
  );
}
