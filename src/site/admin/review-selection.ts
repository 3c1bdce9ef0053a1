import { ObjectId, type WithId } from 'mongodb';
import type { SeenReview } from '../../reviews/moderate-review.ts';
import type { Review } from '../../reviews/review.ts';
import { counted } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { notice } from '../shared/parts.ts';
import { adminPath } from './admin-frame.ts';

/** The maximum number of reviews that one form decides about. */
const MOST = 20;

/** The id of the form that approves several reviews. Its check boxes are in the cards of the reviews. */
const MANY = 'approve-many';

/** The value of a review's check box: its id and the shown revision. `seenReviews` parses it. */
export function reviewValue({ _id, revision = 0 }: WithId<Review>): string {
  return `${_id.toHexString()}-${revision}`;
}

/** The check box in the card of a review. It belongs to the form at the end of the page. */
export function selection(review: WithId<Review>): Html {
  const { _id, username } = review;
  const id = _id.toHexString();
  return html`<p class="check">
    <input id="select-${id}" type="checkbox" name="review" value="${reviewValue(review)}" form="${MANY}" />
    <label for="select-${id}">Select<span class="for-readers"> the review of ${username}</span></label>
  </p>`;
}

/** The button that approves the selected reviews. */
export function approveMany(base: string): Html {
  return html`<form method="post" action="${adminPath(base, '/reviews/approve')}" id="${MANY}" class="card actions">
    <button type="submit">Approve selected reviews</button>
    <span class="soft">Each review that you selected above becomes public.</span>
  </form>`;
}

/** The selected reviews, each with the revision that the operator saw. Invalid values are ignored. */
export function seenReviews(values: string[]): SeenReview[] {
  return values.slice(0, MOST).flatMap((value) => {
    const [, id, revision] = /^([0-9a-f]{24})-(\d{1,9})$/.exec(value) ?? [];
    return id ? [{ reviewId: new ObjectId(id), revision: Number(revision) }] : [];
  });
}

/** A notice with the result after several reviews were approved. Empty if the query has no such result. */
export function manyNotice({ approved: text, of }: Record<string, string>): Content {
  const [approved, all] = [Number(text), Number(of)];
  if (!Number.isInteger(approved) || !Number.isInteger(all)) return '';
  const others = all - approved;
  return notice(
    others > 0 ? 'attention' : 'good',
    `${counted(approved, 'review')} approved.${others > 0 ? ` ${counted(others, 'review')} changed meanwhile: another operator decided first, or the author edited it.` : ''}`,
  );
}
