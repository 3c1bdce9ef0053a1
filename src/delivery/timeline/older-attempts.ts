import type { Document } from 'mongodb';
import type { OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { type Attempt, type Delivery, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';

const STORED_ATTEMPTS = { $size: '$delivery.attempts' };
const MADE = { $add: ['$delivery.attemptCount', { $ifNull: ['$delivery.ends.none', 0] }] };

/** The new `older` of a vote, as an expression, when the details of its attempts up to `lastAt` are removed. */
function olderUntil(lastAt: Document): Document {
  return {
    // If the details of the first attempt were removed earlier, its time is in the stored `older`.
    firstAt: {
      $cond: [
        { $eq: [STORED_ATTEMPTS, MADE] },
        { $first: '$delivery.attempts.at' },
        '$delivery.older.firstAt',
      ],
    },
    lastAt,
  };
}

/** Adds `attempt` (an aggregation expression) to a vote. Only the newest `MOST_ATTEMPT_DETAILS` keep their details. */
export function withAttempt(attempt: Document): Document {
  return {
    'delivery.attempts': {
      $slice: [{ $concatArrays: ['$delivery.attempts', [attempt]] }, -MOST_ATTEMPT_DETAILS],
    },
    'delivery.older': {
      $cond: [
        { $gte: [STORED_ATTEMPTS, MOST_ATTEMPT_DETAILS] },
        olderUntil({ $first: '$delivery.attempts.at' }),
        '$delivery.older',
      ],
    },
  };
}

/** The update that removes the details of all attempts. */
export function withoutAttempts(): Document {
  return {
    'delivery.attempts': [],
    'delivery.older': olderUntil({ $last: '$delivery.attempts.at' }),
  };
}

/** Attempts whose details are no longer stored. */
export type OlderAttempts = {
  kind: 'older-attempts';
  /** When the last of these attempts was made. If that is unknown, when the vote was cast. */
  at: Date;
  count: number;
  firstAt: Date | null;
  lastAt: Date | null;
  ends: Partial<Record<OutcomeClass, number>>;
  /** How many attempts had each outcome; null when that is not on record. */
  codes: Partial<Record<OutcomeCode, number>> | null;
};

/** Whether an attempt counts. If Tallyport itself failed, stopped or reached a limit, it does not count. */
export function counts(attempt: Attempt): boolean {
  return attempt.class !== 'none';
}

/** How many of the counted attempts have no stored details. */
export function olderCount({ attemptCount, attempts }: Delivery): number {
  return attemptCount - attempts.filter(counts).length;
}

/** The summary of attempts whose details are no longer stored; null when there is none. */
export function olderAttempts({ votedAt, delivery }: Vote): OlderAttempts | null {
  const count = olderCount(delivery);
  if (count <= 0) return null;
  const { attempts, ends, codes, older } = delivery;
  const counted = attempts.filter(counts);
  const left = without(ends, counted, 'class');
  const leftCodes = without(codes ?? {}, counted, 'code');
  delete left.none;
  delete leftCodes['our-fault'];
  delete leftCodes['stopped-before-written'];
  const sum = Object.values(leftCodes).reduce((total, each) => total + each, 0);
  return {
    kind: 'older-attempts',
    at: older?.lastAt ?? votedAt,
    count,
    firstAt: older?.firstAt ?? null,
    lastAt: older?.lastAt ?? null,
    ends: left,
    // If an older version made some of these attempts, it did not record their codes, so the codes are incomplete.
    codes: sum === count ? leftCodes : null,
  };
}

/** The counts by class or by code, minus these attempts; a count of zero is omitted. */
function without<K extends string>(
  counts: Partial<Record<K, number>>,
  attempts: Attempt[],
  by: 'class' | 'code',
): Partial<Record<K, number>> {
  const left = Object.entries<number>(counts as Record<K, number>).map(([key, count]) => {
    return [key, count - attempts.filter((attempt) => attempt[by] === key).length] as const;
  });
  return Object.fromEntries(left.filter(([, count]) => count > 0)) as Partial<Record<K, number>>;
}
