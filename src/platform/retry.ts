import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from './clock.ts';
import { throwUnlessTransient } from './transient-errors.ts';

const RETRY_MS = SECOND / 2;

export type Retrying = {
  /** A time (`performance.now()`). A try that begins after it is the last one. */
  deadline: () => number;
  /** Once aborted, there is one more try, which begins at once. */
  signal?: AbortSignal;
  /** Called with each error. If it throws, the retries end. By default it throws unless the error is transient. */
  onError?: (error: unknown) => void;
};

/**
 * Runs `work` until it succeeds, with pauses of half a second. `tries` begins at 0.
 *
 * @throws what `onError` throws, or the error of the last try
 */
export async function retry<T>(
  work: (tries: number) => Promise<T>,
  { deadline, signal, onError = throwUnlessTransient }: Retrying,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const isLast = signal?.aborted || performance.now() > deadline();
    try {
      return await work(tries);
    } catch (error) {
      onError(error);
      if (isLast) throw error;
    }
    await pause(RETRY_MS, undefined, signal && { signal }).catch(() => undefined);
  }
}
