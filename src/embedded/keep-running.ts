import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Say } from './service-error.ts';

const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;
/** What ran for so long before it ended is started again as quickly as at first. */
const STEADY_MS = MINUTE;

/** A process that was started. */
export type Running = {
  /** Settles when it has ended, with a few words that say how. */
  ended: Promise<string>;
  /** Asks it to end and waits; forces it after a time. */
  stop(): Promise<void>;
  /** Forces it, without waiting. */
  kill(): void;
};

/**
 * Starts a process again whenever it ends by itself, after a pause of 1 s that doubles up to 30 s.
 *
 * @param title - its name in the line that says so
 * @param first - the process as it runs now
 * @param startAgain - starts the next one; may fail, and is then tried again
 */
export function keepRunning(
  title: string,
  first: Running,
  startAgain: () => Promise<Running>,
  say: Say,
): Omit<Running, 'ended'> {
  const stopping = new AbortController();
  let running = first;

  const kept = (async () => {
    let delay = FIRST_PAUSE_MS;
    for (;;) {
      const startedAt = performance.now();
      const how = await running.ended;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_MS) delay = FIRST_PAUSE_MS;
      say(`${title} ended unexpectedly (${how}): starting it again in ${delay / SECOND} s`);
      await pause(delay, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      delay = Math.min(2 * delay, LONGEST_PAUSE_MS);
      running = await startAgain().catch((error: Error) => failed(error.message));
      if (stopping.signal.aborted) await running.stop();
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await running.stop();
      await kept;
    },
    kill() {
      stopping.abort();
      running.kill();
    },
  };
}

/** A start that came to nothing, as a process that has already ended. */
function failed(how: string): Running {
  return { ended: Promise.resolve(how), stop: async () => undefined, kill: () => undefined };
}
