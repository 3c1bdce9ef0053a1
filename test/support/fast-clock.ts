import { onTestFinished, vi } from 'vitest';

/** The milliseconds of a fast clock per millisecond of this process. */
const FAST_STEP_MS = 20;

/** A clock that runs 20 times as fast. */
export type FastClock = {
  /** Sets it to normal speed. */
  slowDown(): void;
  /** Sets it to fast again. */
  speedUp(): void;
};

/**
 * Makes timers and `performance.now()` run 20 times as fast until the test ends. The clock moves only while the event
 * loop turns, so a busy machine slows it down together with the sockets of this process. What another process has to
 * answer in time has a twentieth of that time: `slowDown()` first.
 */
export function useFastClock(): FastClock {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let stepMs = FAST_STEP_MS;
  const ticking = setInterval(() => vi.advanceTimersByTime(stepMs), 1);
  onTestFinished(() => {
    clearInterval(ticking);
    vi.useRealTimers();
  });
  return {
    slowDown() {
      stepMs = 1;
    },
    speedUp() {
      stepMs = FAST_STEP_MS;
    },
  };
}

/** Waits for `work`; gives its result and the milliseconds that it took on the clock of this process. */
export async function timed<T>(work: Promise<T>): Promise<{ result: T; tookMs: number }> {
  const began = performance.now();
  const result = await work;
  return { result, tookMs: performance.now() - began };
}
