import type { WithId } from 'mongodb';
import { z } from 'zod';
import { moderateReviews, type SeenReview } from '../../../reviews/moderate-review.ts';
import { listReviewsInState } from '../../../reviews/read-reviews.ts';
import type { Review } from '../../../reviews/review.ts';
import type { Reviewer } from '../../../reviews/reviewers.ts';
import type { Server } from '../../../servers/server.ts';
import { OPERATOR } from '../../route-options.ts';
import { allValues } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { counted, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { badge, button } from '../../shared/parts.ts';
import { starsText } from '../../shared/review-parts.ts';
import { hiddenFields, reasonedDecision } from '../admin-fields.ts';
import { adminPath, serverLink } from '../admin-frame.ts';
import { aboutReviews, reviewValue, seenReviews } from '../review-card.ts';
import {
  backToList,
  formAddress,
  type Inbox,
  type InboxItem,
  type InboxView,
  isOfAll,
  type KindOfItem,
  numberOrZero,
} from './inbox.ts';
import { evidence, keyed, manyButton, manyForm, resultNotice } from './inbox-parts.ts';

const ROWS = 20;

const DECISIONS = {
  approved: { state: 'approved', seenAs: 'pending', done: 'approved.' },
  rejected: { state: 'rejected', seenAs: 'pending', done: 'rejected.' },
  'undo-approved': { state: 'pending', seenAs: 'approved', done: 'waiting again.' },
  'undo-rejected': { state: 'pending', seenAs: 'rejected', done: 'waiting again.' },
} as const;
type Many = keyof typeof DECISIONS;
const MANY = Object.keys(DECISIONS) as Many[];

const manyDecision = z.object({
  decision: z.enum(MANY),
  reason: z.string().optional(),
  reasonForOwner: z.string().optional(),
});

export function reviewsKind(inbox: Inbox): KindOfItem {
  const { deps, base } = inbox;
  decisions(inbox);
  return {
    result: (query) => resultOf(inbox, query),
    read: async (list) => {
      const { from, limit = ROWS } = list;
      const { rows, next } = await listReviewsInState(deps, 'pending', { from, limit, newestFirst: true });
      const { servers, reviewers } = await aboutReviews(deps, rows);
      const view = { ...list, base, servers };
      return { items: rows.map((row, i) => reviewItem(view, row, reviewers[i])), next };
    },
    empty: 'No reviews are waiting.',
    many: ({ to }) =>
      manyForm({
        kind: 'reviews',
        to: to('/reviews'),
        buttons: html`${manyButton({ value: 'approved', text: 'Approve', key: 'a' })}
          ${keyed('x', rejection(html`Reject…`, 'the authors', 'many'))}`,
      }),
  };
}

const RATING_ONLY = html`<p class="soft">Rating only.</p>`;

type View = InboxView & { base: string; servers: Map<string, Server> };

function reviewItem(view: View, review: WithId<Review>, reviewer: Reviewer | undefined): InboxItem {
  const { base, now, servers, to } = view;
  const { _id, username, rating, content, createdAt, editedAt, personId, serverId } = review;
  const server = servers.get(serverId.toHexString());
  const name = server ? html`<bdi>${server.name}</bdi>` : 'a removed server';
  const of = `the review of ${username}`;
  const stars = counted(rating, 'star');
  const hidden = { decision: 'approved', item: reviewValue(review) };
  return {
    kind: 'reviews',
    id: _id.toHexString(),
    at: createdAt,
    select: { value: reviewValue(review), of },
    what: html`${stars}, <bdi>${username}</bdi>`,
    where: name,
    title: html`${stars} for ${name}`,
    since: html`Review by <bdi>${username}</bdi>, ${timeAgo(createdAt, now)}${
      editedAt ? html`, edited ${timeAgo(editedAt, now)}` : ''
    }`,
    body: html`<p class="rating">${starsText(rating)}</p>
      ${content ? html`<blockquote class="quote" dir="auto">${content}</blockquote>` : RATING_ONLY}
      ${evidence([
        ['Server', server ? serverLink(base, server) : ''],
        ...(reviewer ? reviewerFacts(reviewer, now) : []),
      ])}`,
    actions: html`${keyed('a', button({ to: to('/reviews'), text: 'Approve', hidden, kind: 'primary', of }))}
      ${keyed(
        'x',
        html`<form method="post" action="${to('/reviews')}">${hiddenFields({ item: reviewValue(review) })}
          ${rejection(html`Reject…<span class="for-readers"> ${of}</span>`, 'the author', _id.toHexString())}</form>`,
      )}
      ${
        personId
          ? html`<a href="${adminPath(base, `/users/${personId.toHexString()}`)}">The author’s account</a>`
          : ''
      }`,
  };
}

function reviewerFacts({ accountSince, isNewAccount, hasVoted }: Reviewer, now: Date): [string, Content][] {
  const account = accountSince
    ? html`made ${timeAgo(accountSince, now)}${isNewAccount ? html` ${badge('attention', 'new account')}` : ''}`
    : 'none: entered by an operator';
  return [
    ['Account', account],
    ['Has voted', hasVoted ? 'yes, for this server' : 'no vote known'],
  ];
}

function rejection(opens: Html, reader: string, of: string): Html {
  return reasonedDecision({
    opens,
    button: 'Reject',
    value: 'rejected',
    reader,
    of,
    isShared: of === 'many',
  });
}

function decisions({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/reviews',
    access: OPERATOR,
    schema: manyDecision,
    run: async ({ request, by, data: { decision, reason, reasonForOwner } }) => {
      const seen = seenReviews(allValues(request, 'item').flatMap((value) => value.split(' ')));
      if (seen.length === 0) return backToList(request, base, 'reviews', { done: 'none' });
      if (decision === 'rejected' && !reason?.trim())
        return refused(400, 'Enter a reason for the rejection.');
      const reasons = decision === 'rejected' && reason ? { reason, reasonForOwner } : {};
      const { state, seenAs } = DECISIONS[decision];
      const undoing = state === 'pending' ? { decidedBy: by } : {};
      const decided = await moderateReviews(deps, seen, state, by, { seenAs, ...undoing, ...reasons });
      numbers.forget();
      const missed = seen.length - decided.length;
      return backToList(request, base, 'reviews', {
        done: decision,
        decided: decided.map(seenValue).join(' ') || undefined,
        missed,
      });
    },
  });
}

const seenValue = ({ reviewId, revision }: SeenReview) => `${reviewId.toHexString()}-${revision}`;

async function resultOf({ deps, base }: Inbox, query: Record<string, string>): Promise<Content> {
  const { done = '', decided = '' } = query;
  if (done === 'none') return resultNotice('attention', 'Select the reviews first.');
  const decision = MANY.find((one) => one === done);
  if (!decision) return '';
  const seen = seenReviews(decided.split(' '));
  const missed = numberOrZero(query.missed);
  const others = missed
    ? ` ${counted(missed, 'review')} changed meanwhile: another operator decided first, or the author edited it.`
    : '';
  const undo = button({
    to: formAddress(base, isOfAll(query))('/reviews'),
    text: 'Undo',
    hidden: { decision: `undo-${decision}`, item: seen.map(seenValue).join(' ') },
    of: 'these decisions',
  });
  const canUndo = DECISIONS[decision].seenAs === 'pending' && seen.length > 0;
  const [first] = seen;
  const one =
    first && seen.length === 1
      ? await deps.reviews.findOne({ _id: first.reviewId }, { projection: { username: 1 } })
      : null;
  const what = one ? html`The review of <bdi>${one.username}</bdi> is` : counted(seen.length, 'review');
  return resultNotice(
    missed ? 'attention' : 'good',
    html`${what} ${DECISIONS[decision].done}${others}`,
    canUndo ? undo : '',
  );
}
