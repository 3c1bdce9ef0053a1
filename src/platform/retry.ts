import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from './clock.ts';
import { throwUnlessTransient } from './transient-errors.ts';

/** The pause before another try. */
const RETRY_MS = SECOND / 2;

/** When a failed operation is not tried again. */
export type Retrying = {
  /** In the time of `performance.now()`. A try that begins later is the last one. */
  deadline: () => number;
  /** A try that begins after the abort is the last one; it begins at once. */
  signal: AbortSignal;
  /** Called with each error. It may throw to end the retries, as the default does unless the error is transient. */
  onError?: (error: unknown) => void;
};

/**
 * Runs an operation on MongoDB every half a second until it succeeds.
 *
 * @param work - gets the number of the try, from 0 on
 * @throws the error of the last try
 */
export async function retry<T>(
  work: (tries: number) => Promise<T>,
  { deadline, signal, onError = throwUnlessTransient }: Retrying,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const isLast = signal.aborted || performance.now() > deadline();
    try {
      return await work(tries);
    } catch (error) {
      onError(error);
      if (isLast) throw error;
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}
