import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Say } from './service-error.ts';

const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;
const STEADY_MS = MINUTE;

export type Running = {
  /** Resolves when the process has exited, with a short text that says how. */
  ended: Promise<string>;
  stop(): Promise<void>;
  kill(): void;
};

/** Restarts a process whenever it exits by itself. If `startAgain` rejects, it is called again after a pause. */
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
      // A failed start counts as a process that has exited.
      running = await startAgain().catch((error: Error) => ({
        ended: Promise.resolve(error.message),
        stop: async () => undefined,
        kill: () => undefined,
      }));
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
