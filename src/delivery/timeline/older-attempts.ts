import type { Document } from 'mongodb';
import type { OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { type Attempt, type Delivery, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';

const STORED_ATTEMPTS = { $size: '$delivery.attempts' };
const MADE = { $add: ['$delivery.attemptCount', { $ifNull: ['$delivery.ends.none', 0] }] };

/** The new `older`, as an expression, when the details of attempts up to `lastAt` are removed. */
function olderUntil(lastAt: Document): Document {
  return {
    // Once the details of the first attempt are gone, its time is in the stored `older`.
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

/** `attempt` is an aggregation expression. Only the newest `MOST_ATTEMPT_DETAILS` keep their details. */
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

export function withoutAttempts(): Document {
  return {
    'delivery.attempts': [],
    'delivery.older': olderUntil({ $last: '$delivery.attempts.at' }),
  };
}

/** Attempts whose details are no longer stored. */
export type OlderAttempts = {
  kind: 'older-attempts';
  /** Of the last one; when the vote was cast if that is unknown. */
  at: Date;
  count: number;
  firstAt: Date | null;
  lastAt: Date | null;
  ends: Partial<Record<OutcomeClass, number>>;
  /** Null when not on record. */
  codes: Partial<Record<OutcomeCode, number>> | null;
};

/** If Tallyport itself failed, stopped or reached a limit, it does not. */
export function counts(attempt: Attempt): boolean {
  return attempt.class !== 'none';
}

/** Counted attempts without stored details. */
export function olderCount({ attemptCount, attempts }: Delivery): number {
  return attemptCount - attempts.filter(counts).length;
}

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
    // An older version did not record the codes of its attempts.
    codes: sum === count ? leftCodes : null,
  };
}

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
