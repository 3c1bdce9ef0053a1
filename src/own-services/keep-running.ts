import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Say } from './service-error.ts';

const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;
/** If a process has run for this long, the pause before its next restart is short again. */
const STEADY_MS = MINUTE;

export type Running = {
  /** Settles when the process has exited, with a short text that says how. */
  ended: Promise<string>;
  /** Stops the process and waits; kills it after a timeout. */
  stop(): Promise<void>;
  /** Kills the process without waiting. */
  kill(): void;
};

/**
 * Restarts a process whenever it exits by itself. The pause before a restart is 1 s and doubles up to 30 s.
 *
 * @param title - the name of the process in messages
 * @param first - the running process
 * @param startAgain - starts the next process; if it rejects, it is called again after a pause
 */
export function keepRunning(
  title: string,
  first: Running,
  startAgain: () => Promise<Running>,
  say: Say,
): Omit<Running, 'ended'> {
  const stopping = new AbortController();
  let running = first;

  const restarting = (async () => {
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
      await restarting;
    },
    kill() {
      stopping.abort();
      running.kill();
    },
  };
}

/** Represents a failed start as a process that has exited. */
function failed(how: string): Running {
  return { ended: Promise.resolve(how), stop: async () => undefined, kill: () => undefined };
}
