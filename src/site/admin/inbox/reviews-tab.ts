import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { moderateReviews, type SeenReview } from '../../../reviews/moderate-review.ts';
import { listReviewsInState } from '../../../reviews/read-reviews.ts';
import { isId } from '../../../servers/slug.ts';
import { OPERATOR } from '../../route-options.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { allValues, UNTOUCHED } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { counted } from '../../shared/format.ts';
import { type Content, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { reasonFields } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import { aboutReviews, decisionNotice, reviewParts, reviewValue, seenReviews } from '../review-card.ts';
import { type Inbox, inboxPath, numberOrZero, type TabOf } from './inbox.ts';
import { inboxItem, keysHint, listPage, manyButton, manyForm, resultNotice } from './inbox-parts.ts';

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

export function reviewsTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  decisions(inbox);
  return async (_request, query) => {
    const { from } = query;
    const { rows, next } = await listReviewsInState(deps, 'pending', {
      from,
      limit: ROWS,
      newestFirst: true,
    });
    const { servers, reviewers } = await aboutReviews(deps, rows);
    const view = { base, now: deps.clock.now(), servers, list: 'inbox' } as const;
    const items = rows.map((row, i) => {
      const select = { value: reviewValue(row), of: `the review of ${row.username}` };
      return inboxItem({
        id: row._id.toHexString(),
        select,
        at: '',
        ...reviewParts(view, row, reviewers[i]),
      });
    });
    const body = html`${await resultOf(inbox, query)}
      ${
        rows.length === 0
          ? emptyLine('No reviews are waiting.')
          : html`${keysHint({ a: 'approve', x: 'reject' })}
        ${items} ${many(base)}`
      }`;
    return listPage(base, 'reviews', body, { from, next, count: rows.length });
  };
}

function many(base: string) {
  const fields = reasonFields({
    typed: UNTOUCHED,
    forOwner: { name: 'reasonForOwner', reader: 'the authors' },
    internal: { name: 'reason', required: false },
    of: 'many',
  });
  return manyForm({
    to: adminPath(base, '/attention/reviews'),
    buttons: html`${manyButton({ value: 'approved', text: 'Approve selected', key: 'a' })}
      <div data-press-many="x"><details class="confirm">
        <summary class="button quiet">Reject selected…</summary>
        <div class="confirm-body stack">${fields}
          <button class="danger" type="submit" name="decision" value="rejected">Reject selected</button></div>
      </details></div>`,
  });
}

function decisions({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/reviews',
    access: OPERATOR,
    schema: manyDecision,
    run: async ({ request, by, data: { decision, reason, reasonForOwner } }) => {
      const seen = seenReviews(allValues(request, 'item').flatMap((value) => value.split(' ')));
      if (seen.length === 0) return inboxPath(base, 'reviews', { done: 'none' });
      if (decision === 'rejected' && !reason?.trim())
        return refused(400, 'Enter a reason for the rejection.');
      const reasons = decision === 'rejected' && reason ? { reason, reasonForOwner } : {};
      const { state, seenAs } = DECISIONS[decision];
      const decided = await moderateReviews(deps, seen, state, by, { seenAs, ...reasons });
      numbers.forget();
      const missed = seen.length - decided.length;
      return inboxPath(base, 'reviews', {
        done: decision,
        decided: decided.map(seenValue).join(' ') || undefined,
        missed,
      });
    },
  });
}

const seenValue = ({ reviewId, revision }: SeenReview) => `${reviewId.toHexString()}-${revision}`;

async function resultOf({ deps, base }: Inbox, query: Record<string, string>): Promise<Content> {
  const { done = '', review = '', decided = '' } = query;
  if (done === 'none') return resultNotice('attention', 'Select the reviews first.');
  if (isId(review)) {
    const found = await deps.reviews.findOne({ _id: new ObjectId(review) });
    return found ? decisionNotice(base, found, { meanwhile: done === 'meanwhile', list: 'inbox' }) : '';
  }
  const decision = MANY.find((one) => one === done);
  if (!decision) return '';
  const seen = seenReviews(decided.split(' '));
  const missed = numberOrZero(query.missed);
  const others = missed
    ? ` ${counted(missed, 'review')} changed meanwhile: another operator decided first, or the author edited it.`
    : '';
  const undo = button({
    to: adminPath(base, '/attention/reviews'),
    text: 'Undo',
    hidden: { decision: `undo-${decision}`, item: seen.map(seenValue).join(' ') },
    of: 'these decisions',
  });
  const canUndo = DECISIONS[decision].seenAs === 'pending' && seen.length > 0;
  return resultNotice(
    missed ? 'attention' : 'good',
    `${counted(seen.length, 'review')} ${DECISIONS[decision].done}${others}`,
    canUndo ? undo : '',
  );
}
