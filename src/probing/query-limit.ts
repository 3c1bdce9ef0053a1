import PQueue from 'p-queue';
import { QueryError } from './query-error.ts';

/** A check that waits longer for a slot fails. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Further queries wait for a slot, in order: `QueryError` `stopped` if `signal` aborts meanwhile, or after 30 seconds.
 * A query that has begun is not stopped.
 */
export function limitQueries(
  atOnce: number,
): <T>(query: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T> {
  const queue = new PQueue({ concurrency: atOnce });
  return (query, signal) => {
    const waiting = new AbortController();
    const stop = (why: string) => waiting.abort(new QueryError('stopped', why));
    const onStop = () => stop('The check was stopped.');
    const timer = setTimeout(
      () => stop('The check could not be made: too many other checks are running.'),
      LONGEST_WAIT_MS,
    );
    signal?.addEventListener('abort', onStop);
    const endWait = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onStop);
    };
    const run = () => {
      endWait();
      return query();
    };
    return queue.add(run, { signal: waiting.signal }).finally(endWait);
  };
}

export type QueryLimit = ReturnType<typeof limitQueries>;
