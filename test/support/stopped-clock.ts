import { after, type Clock } from '../../src/platform/clock.ts';

/** A clock that does not run. A test sets and moves it. */
export type StoppedClock = Clock & { set(at: Date): void; move(ms: number): void };

/** A clock stopped at `at`, by default at the current time. */
export function stoppedClock(at: Date = new Date()): StoppedClock {
  let now = at;
  return {
    now: () => new Date(now),
    set(to) {
      now = to;
    },
    move(ms) {
      now = after(now, ms);
    },
  };
}
