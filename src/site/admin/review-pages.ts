import type { FastifyInstance } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { approveReviews, moderateReview } from '../../reviews/moderate-review.ts';
import { listReviewsInState } from '../../reviews/read-reviews.ts';
import { REVIEW_STATES, type Review, type ReviewState } from '../../reviews/review.ts';
import { type Reviewer, reviewerOf } from '../../reviews/reviewers.ts';
import type { Server } from '../../servers/server.ts';
import { isId } from '../../servers/slug.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { allValues, queryOf, queryText, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { badge, button, notice, pager, tabs } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { reasonFields } from './reason-fields.ts';
import { approveMany, manyNotice, seenReviews, selection } from './review-selection.ts';

/** Reviews per page. */
const ROWS = 20;

const TABS: Record<ReviewState, string> = { pending: 'Waiting', approved: 'Approved', rejected: 'Rejected' };

const decisionForm = z.object({
  state: z.enum(REVIEW_STATES),
  seenAs: z.enum(REVIEW_STATES),
  revision: z.coerce.number().int().min(0),
  reason: z.string().optional(),
  reasonForOwner: z.string().optional(),
});

/** `/operator/reviews`: pending reviews, oldest first, and decided reviews with a button to undo the decision. */
export function reviewPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/reviews', OPERATOR, async (request, reply) => {
    const { state: wanted, from, done, review } = queryOf(request);
    const state = REVIEW_STATES.find((one) => one === wanted) ?? 'pending';
    const { rows, next } = await listReviewsInState(deps, state, { from, limit: ROWS });
    const [servers, reviewers] = await Promise.all([
      serversOf(deps, rows),
      Promise.all(rows.map((row) => reviewerOf(deps, row))),
    ]);
    const decided = done && review && isId(review) ? await decidedReview(deps, review) : null;
    const view: View = { base, now: deps.clock.now(), servers };
    const cards = rows.map((row, i) => reviewCard(view, row, reviewers[i], i === 0));
    return sendPage(request, reply, {
      title: 'Reviews',
      body: adminFrame({
        base,
        part: '/reviews',
        body: html`${done === 'none-selected' ? notice('attention', 'Select the reviews to approve first.') : ''}
          ${decided ? decisionNotice(base, decided, done === 'meanwhile') : ''}
          ${done === 'many' ? manyNotice(queryOf(request)) : ''}
          ${stateTabs(base, state)}
          ${rows.length === 0 ? emptyLine(EMPTY[state]) : cards}
          ${state === 'pending' && rows.length > 1 ? approveMany(base) : ''}
          ${pager({
            first: from ? listPath(base, state) : undefined,
            older: next ? listPath(base, state, next) : undefined,
          })}`,
      }),
    });
  });

  formRoute(app, {
    path: '/reviews/approve',
    access: OPERATOR,
    run: async ({ request }) => {
      const seen = seenReviews(allValues(request, 'review'));
      if (seen.length === 0) return `${adminPath(base, '/reviews')}?done=none-selected`;
      const approved = await approveReviews(deps, seen, userOf(request).email);
      const values = { done: 'many', approved: String(approved), of: String(seen.length) };
      return `${adminPath(base, '/reviews')}${queryText(values)}`;
    },
  });

  formRoute(app, {
    path: '/reviews/:reviewId',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ request, data }) => {
      const reviewId = idParam(request, 'reviewId');
      const { state, seenAs, revision, reason, reasonForOwner } = data;
      if (state === 'rejected' && !reason?.trim()) return refused(400, 'Enter a reason for the rejection.');
      const given = state === 'rejected' && reason ? { reason, reasonForOwner } : {};
      const seen = { seenAs, revision, ...given };
      const review = await moderateReview(deps, reviewId, state, userOf(request).email, seen);
      if (!review) return refused(404, 'This review does not exist.');
      // The redirect leads back to the list in which the button was pressed.
      const back = {
        state: seenAs === 'pending' ? undefined : seenAs,
        done: review.state === state ? state : 'meanwhile',
        review: reviewId.toHexString(),
      };
      return `${adminPath(base, '/reviews')}${queryText(back)}#next`;
    },
  });
}

const EMPTY: Record<ReviewState, string> = {
  pending: 'No reviews are waiting.',
  approved: 'No approved reviews yet.',
  rejected: 'No rejected reviews.',
};

type View = { base: string; now: Date; servers: Map<string, Server> };

async function serversOf({ servers }: AdminParts['deps'], rows: Review[]): Promise<Map<string, Server>> {
  const ids = [...new Map(rows.map(({ serverId }) => [serverId.toHexString(), serverId])).values()];
  const found = ids.length > 0 ? await servers.find({ _id: { $in: ids } }).toArray() : [];
  return new Map(found.map((server) => [server._id.toHexString(), server]));
}

async function decidedReview({ reviews }: AdminParts['deps'], reviewId: string) {
  return reviews.findOne({ _id: new ObjectId(reviewId) });
}

function listPath(base: string, state: ReviewState, from?: string): string {
  return adminPath(base, `/reviews${queryText({ state: state === 'pending' ? undefined : state, from })}`);
}

function stateTabs(base: string, state: ReviewState): Html {
  return tabs(
    'Reviews by state',
    REVIEW_STATES.map((one) => ({ href: listPath(base, one), text: TABS[one] })),
    listPath(base, state),
  );
}

const DECIDED: Record<ReviewState, string> = {
  pending: 'is waiting again',
  approved: 'is approved',
  rejected: 'is rejected',
};

/** Why a decision was not stored: another operator decided first, or the review was changed. */
const MEANWHILE: Record<ReviewState, string> = {
  pending: 'The review has changed since you opened it. ',
  approved: 'Another operator decided first. ',
  rejected: 'Another operator decided first. ',
};

/** The current state of the review that was just decided, and a button to undo the decision. */
function decisionNotice(base: string, review: WithId<Review>, meanwhile: boolean): Html {
  const { username, state, moderatedBy } = review;
  const by = moderatedBy ? html` by <bdi>${moderatedBy}</bdi>` : '';
  return notice(
    meanwhile ? 'attention' : 'good',
    html`<div class="actions">
      <span>${meanwhile ? MEANWHILE[state] : ''}The review of <bdi>${username}</bdi> ${DECIDED[state]}${by}.</span>
      ${state === 'pending' ? '' : decision(base, review, { state: 'pending', text: 'Undo' })}
    </div>`,
  );
}

function decision(
  base: string,
  { _id, state: seenAs, username, revision = 0 }: WithId<Review>,
  { state, text, kind = 'quiet' }: { state: ReviewState; text: string; kind?: 'primary' | 'quiet' },
): Html {
  return button({
    to: adminPath(base, `/reviews/${_id.toHexString()}`),
    text,
    hidden: { state, seenAs, revision: String(revision) },
    kind,
    of: `the review of ${username}`,
  });
}

const TONES = { pending: 'attention', approved: 'good', rejected: 'bad' } as const;

/** One review with buttons for each decision. */
function reviewCard(
  view: View,
  review: WithId<Review>,
  reviewer: Reviewer | undefined,
  isFirst: boolean,
): Html {
  const { base, now, servers } = view;
  const { username, rating, content, createdAt, state, serverId } = review;
  const server = servers.get(serverId.toHexString());
  const about = server
    ? html`<a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`
    : 'a removed server';
  const changes = html`${changedBy(base, review, now)}${decidedBy(review, now)}`;
  return html`<article class="card" ${isFirst ? html`id="next" tabindex="-1"` : ''}>
    <header class="card-head">
      <h2><bdi>${username}</bdi> on ${about}</h2>
      ${state === 'pending' ? '' : badge(TONES[state], TABS[state].toLowerCase())}
    </header>
    <p class="soft">${rating} of 5 stars, ${timeAgo(createdAt, now)}${changes}</p>
    ${reviewer ? authorFacts(reviewer, now) : ''}
    ${
      content
        ? html`<blockquote class="quote" dir="auto">${content}</blockquote>`
        : html`<p class="soft">Rating only.</p>`
    }
    ${state === 'pending' ? selection(review) : ''}
    <div class="actions">
      ${
        state === 'approved'
          ? ''
          : decision(base, review, {
              state: 'approved',
              text: 'Approve',
              kind: state === 'pending' ? 'primary' : 'quiet',
            })
      }
      ${state === 'pending' ? '' : decision(base, review, { state: 'pending', text: 'Undo' })}
      ${state === 'rejected' ? '' : rejection(base, review)}
    </div>
  </article>`;
}

/**
 * Facts that help to decide: the age of the author's account, and whether a vote with the same player name is known.
 */
function authorFacts({ accountSince, isNewAccount, hasVoted }: Reviewer, now: Date): Html {
  const account = accountSince
    ? html`Account made ${timeAgo(accountSince, now)}${isNewAccount ? html` ${badge('attention', 'new account')}` : ''}`
    : 'Entered by an operator, without an account';
  const vote = hasVoted ? badge('good', 'has voted') : badge('quiet', 'no vote known');
  return html`<p class="small">${account} ${vote}</p>`;
}

/** Who wrote the review, if known, and when it was edited. */
function changedBy(base: string, { personId: userId, editedAt }: Review, now: Date): Content {
  const writer = userId
    ? html`, <a href="${adminPath(base, `/users/${userId.toHexString()}`)}">by a registered user</a>`
    : '';
  return html`${editedAt ? html`, edited ${timeAgo(editedAt, now)}` : ''}${writer}`;
}

function decidedBy(review: Review, now: Date): Content {
  const { moderatedAt, moderatedBy, rejectedFor, rejectionReason } = review;
  if (!moderatedAt) return '';
  return [
    html`; decided ${timeAgo(moderatedAt, now)}`,
    moderatedBy ? html` by <bdi>${moderatedBy}</bdi>` : '',
    rejectedFor ? html`: “<bdi>${rejectedFor}</bdi>”` : '',
    rejectionReason ? html`; for the author: “<bdi>${rejectionReason}</bdi>”` : '',
  ];
}

function rejection(base: string, { _id, state, username, revision = 0 }: WithId<Review>): Html {
  const id = _id.toHexString();
  return html`<details class="confirm">
    <summary class="button quiet">Reject…<span class="for-readers"> the review of ${username}</span></summary>
    <form method="post" action="${adminPath(base, `/reviews/${id}`)}" class="confirm-body stack">
      <input type="hidden" name="state" value="rejected" />
      <input type="hidden" name="seenAs" value="${state}" />
      <input type="hidden" name="revision" value="${String(revision)}" />
      ${reasonFields({
        typed: UNTOUCHED,
        forOwner: { name: 'reasonForOwner', reader: 'the author' },
        internal: { name: 'reason', required: true },
        of: id,
      })}
      <button class="danger" type="submit">Reject</button>
    </form>
  </details>`;
}
