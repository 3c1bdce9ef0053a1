import type { Db } from 'mongodb';
import { type Clock, SECOND } from './clock.ts';

/**
 * How far a process's clock is from mongod's: milliseconds by which it is ahead, below zero by which it is behind, and
 * 0 while the two agree within 2 seconds (design rule 1); at once where it was measured of late. Fails when MongoDB does
 * not answer.
 */
export type ClockSkew = () => number | Promise<number>;

/** A process whose clock is further from mongod's would count the 24 hours wrongly. */
const TOLERANCE_MS = 2 * SECOND;
/** An older measurement is renewed in the background; one that is older still is not used. */
const FRESH_MS = SECOND;
const STALE_MS = 5 * SECOND;

/** mongod's time less `performance.now()`, and by how much that may be wrong. */
type Measurement = { offset: number; error: number; at: number };

/**
 * Measures with `hello`, at most once a second. Between two measurements the monotonic clock stands in for mongod's,
 * so that a step of this machine's clock shows in the very next call. A difference that a slow answer could explain
 * counts as none, and an old measurement is never the reason to report one.
 */
export function watchClockSkew(db: Db, clock: Clock): ClockSkew {
  let last: Measurement | undefined;
  let measuring: Promise<Measurement> | undefined;

  async function measure(): Promise<Measurement> {
    const before = performance.now();
    const { localTime } = (await db.command({ hello: 1 })) as { localTime: Date };
    const afterwards = performance.now();
    const middle = (before + afterwards) / 2;
    last = { offset: localTime.getTime() - middle, error: (afterwards - before) / 2, at: before };
    return last;
  }

  function renew(): Promise<Measurement> {
    measuring ??= measure().finally(() => {
      measuring = undefined;
    });
    return measuring;
  }

  function skewBy({ offset, error }: Measurement): number {
    const skew = clock.now().getTime() - (performance.now() + offset);
    return Math.abs(skew) - error > TOLERANCE_MS ? skew : 0;
  }

  return () => {
    const age = last ? performance.now() - last.at : Number.POSITIVE_INFINITY;
    if (last && age < STALE_MS && skewBy(last) === 0) {
      // Whoever needs a fresh one waits for it and learns why it failed.
      if (age > FRESH_MS) renew().catch(() => undefined);
      return 0;
    }
    return renew().then(skewBy);
  };
}

/** A skew for users; `''` where there is none. */
export function describeSkew(ms: number): string {
  if (ms === 0) return '';
  const seconds = (Math.abs(ms) / SECOND).toFixed(1);
  return `this machine's clock is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} MongoDB's: set one of them right`;
}
