import type { Db } from 'mongodb';
import { type Clock, SECOND } from './clock.ts';

/**
 * How many milliseconds the process's clock is ahead of mongod's; negative when it is behind, 0 while they agree within
 * 2 seconds (docs/adr/0040-clock-gate.md). Without a promise if a recent measurement showed no skew. Rejects when
 * MongoDB does not answer.
 */
export type ClockSkew = () => number | Promise<number>;

/** A larger skew is reported, because the process would measure a cooldown wrongly. */
export const TOLERANCE_MS = 2 * SECOND;
/** After `FRESH_MS`, a new measurement is made in the background. After `STALE_MS`, callers wait for it. */
const FRESH_MS = SECOND;
const STALE_MS = 5 * SECOND;

/** `offset`: mongod's time minus `performance.now()`, wrong by at most `error`. `at`: when it was measured. In ms. */
type Measurement = { offset: number; error: number; at: number };

/**
 * Returns a function that measures the skew with `hello`: at most once a second while the clocks agree, otherwise at
 * each call. Between two measurements mongod's time is derived from the monotonic clock, so if this machine's clock is
 * set, the next call notices it. A difference that a slow answer could explain counts as 0.
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
      // If this measurement fails, its error is ignored: a later call that waits for a new one gets the error.
      if (age > FRESH_MS) renew().catch(() => undefined);
      return 0;
    }
    return renew().then(skewBy);
  };
}

export function describeSkew(ms: number): string {
  if (ms === 0) return '';
  const seconds = (Math.abs(ms) / SECOND).toFixed(1);
  return `this machine's clock is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} MongoDB's: set one of them right`;
}
