import type { Document, Filter } from 'mongodb';
import type { OutcomeCode } from '../listeners/outcomes.ts';
import type { Attempt, Delivery, Vote } from './vote.ts';

/** What is known of a vote's arrival, from everything that ever happened to it: a later sending changes nothing. */
export const ARRIVALS = ['arrived', 'may-have-arrived', 'surely-not'] as const;
export type Arrival = (typeof ARRIVALS)[number];

/** HTTP 5xx, 408 and 429 of websites that may have taken the vote all the same. HTTP 429 counts as no sending. */
const UNAVAILABLE = ['http-unavailable', 'http-limited'] as const satisfies OutcomeCode[];

/** During an attempt a vote may have arrived; so may one that a Votifier v1 listener took without an answer. */
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

/** Counts what may have arrived; an attempt in progress does not count. */
export function timesArrived(delivery: Delivery): number {
  const { attempts, ends, events, state } = delivery;
  const unended = attempts.filter(({ code }, index) => {
    return !code && !(state === 'sending' && index === attempts.length - 1);
  }).length;
  // The attempt of a vote that was being sent at the backup counts itself, and one that had arrived adds no arrival.
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

/** Without the first resend after a restore: the game server may have had the vote, and only the listing forgot it. */
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

function timesEnded({ codes, attempts }: Delivery, ends: readonly OutcomeCode[]): number {
  // Older versions did not count all codes, and only the newest attempts are stored. Neither number is ever too high.
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

/** `arrivalOf` as an expression. A test compares both over random votes. */
export const ARRIVAL: Document = {
  $cond: [
    HAS_ARRIVED,
    'arrived' satisfies Arrival,
    { $cond: [MAY_HAVE_ARRIVED, 'may-have-arrived' satisfies Arrival, 'surely-not' satisfies Arrival] },
  ],
};

/** No index covers it: other fields must select the votes. */
export function withArrival(...arrivals: Arrival[]): Filter<Vote> {
  return { $expr: { $in: [ARRIVAL, arrivals] } };
}
