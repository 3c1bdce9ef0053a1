import type { Filter } from 'mongodb';
import { DELIVERY_STATES, type Delivery, type DeliveryState, type Vote } from './vote.ts';

/** `sent-not-confirmed`: delivered, and a Votifier v1 listener closed the connection without an answer. */
export const VOTE_SELECTIONS = [...DELIVERY_STATES, 'sent-not-confirmed'] as const;
export type VoteSelection = (typeof VOTE_SELECTIONS)[number];

/** Without attempt details, as in `isConfirmed`. */
const CODE_BY_COUNT = {
  $cond: [{ $gt: ['$delivery.codes.acknowledged', 0] }, 'acknowledged', 'sent-not-confirmed'],
};

const NEWEST_DELIVERY = {
  $last: {
    $filter: {
      input: '$delivery.attempts.code',
      cond: { $in: ['$$this', ['acknowledged', 'sent-not-confirmed']] },
    },
  },
};

/** `isConfirmed` is false. */
const SENT_NOT_CONFIRMED: Filter<Vote> = {
  'delivery.state': 'delivered',
  'delivery.codes.sent-not-confirmed': { $exists: true },
  $expr: { $eq: [{ $ifNull: [NEWEST_DELIVERY, CODE_BY_COUNT] }, 'sent-not-confirmed'] },
};

/** Votes of at least one of these selections. */
export function selected(selections: readonly VoteSelection[]): Filter<Vote> {
  const states = selections.filter((one): one is DeliveryState => one !== 'sent-not-confirmed');
  const inStates: Filter<Vote> = { 'delivery.state': { $in: states } };
  if (states.length === selections.length || states.includes('delivered')) return inStates;
  return states.length === 0 ? SENT_NOT_CONFIRMED : { $or: [inStates, SENT_NOT_CONFIRMED] };
}

export function isSelected({ delivery }: Pick<Vote, 'delivery'>, selection: VoteSelection): boolean {
  return selection === 'sent-not-confirmed' ? isConfirmed(delivery) === false : delivery.state === selection;
}

/** False for `sent-not-confirmed`; null if the vote is not delivered, or nothing stored shows the answer. */
export function isConfirmed({ state, attempts, codes }: Delivery): boolean | null {
  if (state !== 'delivered') return null;
  const newest = attempts.findLast((attempt) => attempt.class === 'delivered')?.code;
  if (newest) return newest === 'acknowledged';
  if ((codes?.acknowledged ?? 0) > 0) return true;
  return (codes?.['sent-not-confirmed'] ?? 0) > 0 ? false : null;
}
