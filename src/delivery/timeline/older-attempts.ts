import type { Document } from 'mongodb';
import type { OutcomeClass, OutcomeCode } from '../../listeners/outcomes.ts';
import { type Attempt, type Delivery, MOST_ATTEMPT_DETAILS, type Vote } from '../../votes/vote.ts';

const KEPT = { $size: '$delivery.attempts' };
const MADE = { $add: ['$delivery.attemptCount', { $ifNull: ['$delivery.ends.none', 0] }] };

/** `older` once the details up to the attempt that began at `lastAt` are gone, as an aggregation expression. */
function olderUntil(lastAt: Document): Document {
  return {
    // Where earlier ones went unnoted, nobody knows the first.
    firstAt: {
      $cond: [{ $eq: [KEPT, MADE] }, { $first: '$delivery.attempts.at' }, '$delivery.older.firstAt'],
    },
    lastAt,
  };
}

/**
 * What a new attempt makes of a vote's `attempts` and `older`: at most `MOST_ATTEMPT_DETAILS` are kept in full.
 *
 * @param attempt - an aggregation expression
 */
export function withAttempt(attempt: Document): Document {
  return {
    'delivery.attempts': {
      $slice: [{ $concatArrays: ['$delivery.attempts', [attempt]] }, -MOST_ATTEMPT_DETAILS],
    },
    'delivery.older': {
      $cond: [
        { $gte: [KEPT, MOST_ATTEMPT_DETAILS] },
        olderUntil({ $first: '$delivery.attempts.at' }),
        '$delivery.older',
      ],
    },
  };
}

/** What forgetting every attempt makes of a vote that has some. */
export function withoutAttempts(): Document {
  return {
    'delivery.attempts': [],
    'delivery.older': olderUntil({ $last: '$delivery.attempts.at' }),
  };
}

/** Attempts whose details are not kept. */
export type OlderAttempts = {
  kind: 'older-attempts';
  /** When the last of them was made, so far as it is known. */
  at: Date;
  count: number;
  firstAt: Date | null;
  lastAt: Date | null;
  ends: Partial<Record<OutcomeClass, number>>;
  /** null where they are not on record. */
  codes: Partial<Record<OutcomeCode, number>> | null;
};

/** An attempt that was given back before anything was sent is none of those that are counted. */
export function counts(attempt: Attempt): boolean {
  return attempt.class !== 'none';
}

/** How many counted attempts have no details any more. */
export function olderCount({ attemptCount, attempts }: Delivery): number {
  return attemptCount - attempts.filter(counts).length;
}

/** What is left of the attempts whose details are not kept. */
export function olderAttempts({ votedAt, delivery }: Vote): OlderAttempts | null {
  const count = olderCount(delivery);
  if (count <= 0) return null;
  const { attempts, ends, codes, older } = delivery;
  const kept = attempts.filter(counts);
  const left = without(
    ends,
    kept.map((attempt) => attempt.class),
  );
  const leftCodes = without(
    codes ?? {},
    kept.map(({ code }) => code),
  );
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
    // Some may be older than this record.
    codes: sum === count ? leftCodes : null,
  };
}

/** Counts without the ones that are `taken`; what is left of none is left out. */
function without<K extends string>(
  counts: Partial<Record<K, number>>,
  taken: (K | null | undefined)[],
): Partial<Record<K, number>> {
  const left = Object.entries<number>(counts as Record<K, number>).map(([key, count]) => {
    return [key, count - taken.filter((each) => each === key).length] as const;
  });
  return Object.fromEntries(left.filter(([, count]) => count > 0)) as Partial<Record<K, number>>;
}
