import { ObjectId, type WithId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import type { SeenReview } from '../../reviews/moderate-review.ts';
import type { Review, ReviewState } from '../../reviews/review.ts';
import { type Reviewer, reviewerOf } from '../../reviews/reviewers.ts';
import type { Server } from '../../servers/server.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { counted, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, button, notice } from '../shared/parts.ts';
import { reasonFields } from './admin-fields.ts';
import { adminPath, serverLink } from './admin-frame.ts';
import { resultNotice } from './inbox/inbox-parts.ts';

export type ReviewView = { base: string; now: Date; servers: Map<string, Server> };

export async function aboutReviews(deps: AppDeps, rows: Review[]) {
  const [servers, reviewers] = await Promise.all([
    deps.servers.find({ _id: { $in: rows.map(({ serverId }) => serverId) } }).toArray(),
    Promise.all(rows.map((row) => reviewerOf(deps, row))),
  ]);
  return { servers: new Map(servers.map((server) => [server._id.toHexString(), server])), reviewers };
}

const DECIDED: Record<ReviewState, string> = {
  pending: 'is waiting again',
  approved: 'is approved',
  rejected: 'is rejected',
};

/** Why a decision was not stored, by the state of the review. */
const MEANWHILE: Record<ReviewState, string> = {
  pending: 'The review has changed since you opened it. ',
  approved: 'Another operator decided first. ',
  rejected: 'Another operator decided first. ',
};

export function decisionNotice(
  base: string,
  review: WithId<Review>,
  { meanwhile }: { meanwhile: boolean },
): Html {
  const { username, state, moderatedBy } = review;
  const by = moderatedBy ? html` by <bdi>${moderatedBy}</bdi>` : '';
  const undo = state === 'pending' ? '' : decision(base, review, { state: 'pending', text: 'Undo' });
  return resultNotice(
    meanwhile ? 'attention' : 'good',
    html`${meanwhile ? MEANWHILE[state] : ''}The review of <bdi>${username}</bdi> ${DECIDED[state]}${by}.`,
    undo,
  );
}

function decision(
  base: string,
  { _id, state: seenAs, username, revision = 0 }: WithId<Review>,
  wanted: { state: ReviewState; text: string; kind?: 'primary' | 'quiet' },
): Html {
  const { state, text, kind = 'quiet' } = wanted;
  return button({
    to: adminPath(base, `/reviews/${_id.toHexString()}`),
    text,
    hidden: { state, seenAs, revision: String(revision) },
    kind,
    of: `the review of ${username}`,
  });
}

export const TABS: Record<ReviewState, string> = {
  pending: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
};

const TONES = { pending: 'attention', approved: 'good', rejected: 'bad' } as const;

function reviewParts(
  view: ReviewView,
  review: WithId<Review>,
  reviewer: Reviewer | undefined,
): { title: Content; body: Content; actions: Content } {
  const { base, now, servers } = view;
  const { username, rating, content, createdAt, serverId } = review;
  const server = servers.get(serverId.toHexString());
  const about = server ? serverLink(base, server) : 'a removed server';
  const changes = html`${changedBy(base, review, now)}${decidedBy(review, now)}`;
  return {
    title: html`<bdi>${username}</bdi> on ${about}`,
    body: html`<p class="soft">${rating} of 5 stars, ${timeAgo(createdAt, now)}${changes}</p>
      ${reviewer ? authorFacts(reviewer, now) : ''}
      ${
        content
          ? html`<blockquote class="quote" dir="auto">${content}</blockquote>`
          : html`<p class="soft">Rating only.</p>`
      }`,
    actions: reviewActions(view, review),
  };
}

function reviewActions({ base }: ReviewView, review: WithId<Review>): Content {
  const { state } = review;
  const kind = state === 'pending' ? 'primary' : 'quiet';
  const approve = decision(base, review, { state: 'approved', text: 'Approve', kind });
  return html`${state === 'approved' ? '' : approve}
    ${state === 'pending' ? '' : decision(base, review, { state: 'pending', text: 'Undo' })}
    ${state === 'rejected' ? '' : rejection(base, review)}`;
}

export function reviewCard(
  view: ReviewView,
  review: WithId<Review>,
  reviewer: Reviewer | undefined,
  isFirst: boolean,
): Html {
  const { title, body, actions } = reviewParts(view, review, reviewer);
  const { state } = review;
  return html`<article class="card" ${isFirst ? html`id="next" tabindex="-1"` : ''}>
    <header class="card-head">
      <h2>${title}</h2>
      ${state === 'pending' ? '' : badge(TONES[state], TABS[state].toLowerCase())}
    </header>
    ${body}
    ${state === 'pending' ? selection(review) : ''}
    <div class="actions">${actions}</div>
  </article>`;
}

function authorFacts({ accountSince, isNewAccount, hasVoted }: Reviewer, now: Date): Html {
  const account = accountSince
    ? html`Account made ${timeAgo(accountSince, now)}${isNewAccount ? html` ${badge('attention', 'new account')}` : ''}`
    : 'Entered by an operator, without an account';
  const vote = hasVoted ? badge('good', 'has voted') : badge('quiet', 'no vote known');
  return html`<p class="small">${account} ${vote}</p>`;
}

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

const MOST = 20;

/** The check boxes of this form are in the cards. */
const MANY = 'approve-many';

export function reviewValue({ _id, revision = 0 }: WithId<Review>): string {
  return `${_id.toHexString()}-${revision}`;
}

export function selection(review: WithId<Review>): Html {
  const { _id, username } = review;
  const id = _id.toHexString();
  return html`<p class="check">
    <input id="select-${id}" type="checkbox" name="review" value="${reviewValue(review)}" form="${MANY}" />
    <label for="select-${id}">Select<span class="for-readers"> the review of ${username}</span></label>
  </p>`;
}

export function approveMany(base: string): Html {
  return html`<form method="post" action="${adminPath(base, '/reviews/approve')}" id="${MANY}" class="card actions">
    <button type="submit">Approve selected reviews</button>
    <span class="soft">Each review that you selected above becomes public.</span>
  </form>`;
}

/** With the revisions that the operator saw. Invalid values are ignored. */
export function seenReviews(values: string[]): SeenReview[] {
  return values.slice(0, MOST).flatMap((value) => {
    const [, id, revision] = /^([0-9a-f]{24})-(\d{1,9})$/.exec(value) ?? [];
    return id ? [{ reviewId: new ObjectId(id), revision: Number(revision) }] : [];
  });
}

export function manyNotice({ approved: text, of }: Record<string, string>): Content {
  const [approved, all] = [Number(text), Number(of)];
  if (!Number.isInteger(approved) || !Number.isInteger(all)) return '';
  const others = all - approved;
  return notice(
    others > 0 ? 'attention' : 'good',
    `${counted(approved, 'review')} approved.${others > 0 ? ` ${counted(others, 'review')} changed meanwhile: another operator decided first, or the author edited it.` : ''}`,
  );
}
