import { onTestFinished, vi } from 'vitest';

/** The fast clock advances this many milliseconds per real millisecond. */
const FAST_STEP_MS = 20;

/** A clock that runs 20 times as fast. */
export type FastClock = {
  /** Sets the clock to normal speed. */
  slowDown(): void;
  /** Sets the clock to fast again. */
  speedUp(): void;
};

/**
 * Makes timers and `performance.now()` run 20 times as fast until the test ends. The clock advances only while the
 * event loop turns, so a busy machine slows it down together with this process's sockets. Call `slowDown()` before
 * waiting for another process, which otherwise would have only a twentieth of the time.
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

/** Waits for `work`. Returns its result and the milliseconds that it took on this process's clock. */
export async function timed<T>(work: Promise<T>): Promise<{ result: T; tookMs: number }> {
  const began = performance.now();
  const result = await work;
  return { result, tookMs: performance.now() - began };
}
