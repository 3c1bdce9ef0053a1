import type { Document, Filter } from 'mongodb';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import type { Attempt, Delivery, Vote } from './vote.ts';

/**
 * What is known of a vote's arrival, from everything that ever happened to it. No later state changes it: a vote that
 * arrived and is sent again has arrived, whatever becomes of the second sending.
 */
export const ARRIVALS = ['arrived', 'may-have-arrived', 'surely-not'] as const;
export type Arrival = (typeof ARRIVALS)[number];

/**
 * Answers of websites that may have taken the vote all the same: HTTP 5xx and 408, and HTTP 429, which is most likely a
 * refusal and so counts as no sending.
 */
const UNAVAILABLE = ['http-unavailable', 'http-limited'] as const satisfies OutcomeCode[];

/**
 * What is known of a vote's arrival. While an attempt is in progress, the vote may have arrived; so may a vote that a
 * Votifier v1 listener took without an answer (`sent-not-confirmed`).
 */
export function arrivalOf(delivery: Delivery): Arrival {
  const { state, ends, codes, events } = delivery;
  const unconfirmed = codes?.['sent-not-confirmed'] ?? 0;
  const confirmed = (ends.delivered ?? 0) - unconfirmed;
  if (confirmed > 0 || (state === 'delivered' && unconfirmed === 0)) return 'arrived';
  const isUncertain =
    state === 'delivered' ||
    state === 'sending' ||
    state === 'unconfirmed' ||
    events.some(({ kind }) => kind === 'restored') ||
    timesEnded(delivery, UNAVAILABLE) > 0 ||
    timesArrived(delivery) > 0;
  return isUncertain ? 'may-have-arrived' : 'surely-not';
}

/** How often a vote has arrived or may have arrived. An attempt that is in progress does not count. */
export function timesArrived(delivery: Delivery): number {
  const { attempts, ends, events, state } = delivery;
  const unended = attempts.filter(({ code }, index) => {
    return !code && !(state === 'sending' && index === attempts.length - 1);
  }).length;
  // If the vote was being sent when the backup was made, its attempt without an outcome is counted, while its details
  // are stored. If it had arrived, the restore adds no arrival.
  const adds = ({ kind, from }: Delivery['events'][number]) =>
    kind === 'restored' && from !== 'sending' && from !== 'delivered';
  const restored = events.filter(adds).length;
  return (
    (ends.delivered ?? 0) +
    (ends.ambiguous ?? 0) +
    timesEnded(delivery, ['http-unavailable']) +
    unended +
    restored
  );
}

/**
 * How often a vote was sent again because somebody wanted it once more. The first resend after a restore does not count:
 * the game server may have had the vote already, and only the listing has forgotten that.
 */
export function resendsOf({ events }: Delivery): number {
  let [count, isHeldBack] = [0, false];
  for (const { kind } of events) {
    if (kind === 'restored') isHeldBack = true;
    if (kind !== 'resent') continue;
    if (!isHeldBack) count += 1;
    isHeldBack = false;
  }
  return count;
}

/** How often attempts ended with these outcomes. */
function timesEnded({ codes, attempts }: Delivery, ends: readonly OutcomeCode[]): number {
  // Older versions did not count all codes, and a vote with many attempts stores only the newest ones. Neither number
  // is ever too high, so the higher one is used.
  const isOne = ({ code }: Attempt) => ends.some((one) => one === code);
  const counted = ends.reduce((sum, code) => sum + (codes?.[code] ?? 0), 0);
  return Math.max(counted, attempts.filter(isOne).length);
}

const isPositive = (field: string) => ({ $gt: [field, 0] });
const UNENDED = 'no outcome';

const SENT_NOT_CONFIRMED = { $ifNull: ['$delivery.codes.sent-not-confirmed', 0] };
const HAS_ARRIVED = {
  $or: [
    { $gt: [{ $ifNull: ['$delivery.ends.delivered', 0] }, SENT_NOT_CONFIRMED] },
    { $and: [{ $eq: ['$delivery.state', 'delivered'] }, { $eq: [SENT_NOT_CONFIRMED, 0] }] },
  ],
};
const HAS_UNCERTAIN_ATTEMPT = {
  $anyElementTrue: {
    $map: {
      input: '$delivery.attempts',
      in: { $in: [{ $ifNull: ['$$this.code', UNENDED] }, [...UNAVAILABLE, UNENDED]] },
    },
  },
};
const MAY_HAVE_ARRIVED = {
  $or: [
    { $in: ['$delivery.state', ['delivered', 'sending', 'unconfirmed']] },
    isPositive('$delivery.ends.delivered'),
    isPositive('$delivery.ends.ambiguous'),
    ...UNAVAILABLE.map((code) => isPositive(`$delivery.codes.${code}`)),
    { $in: ['restored', '$delivery.events.kind'] },
    HAS_UNCERTAIN_ATTEMPT,
  ],
};

/** `arrivalOf` as an aggregation expression. A test compares both over random votes. */
export const ARRIVAL: Document = {
  $cond: [
    HAS_ARRIVED,
    'arrived' satisfies Arrival,
    { $cond: [MAY_HAVE_ARRIVED, 'may-have-arrived' satisfies Arrival, 'surely-not' satisfies Arrival] },
  ],
};

/** A query filter for votes with one of these arrivals. No index covers it: other fields must select the votes. */
export function withArrival(...arrivals: Arrival[]): Filter<Vote> {
  return { $expr: { $in: [ARRIVAL, arrivals] } };
}
