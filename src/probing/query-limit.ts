import PQueue from 'p-queue';
import { QueryError } from './query-error.ts';

/** A query that waits longer than this for a slot is not made. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Makes a limit of queries at once. Further queries wait for a slot, in the order in which they came.
 *
 * @returns a function that runs `query` in a slot. It throws `QueryError` `stopped` when `signal` ends the wait or the
 *   wait takes half a minute. Neither affects a query that has started
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

/** What `limitQueries` makes. */
export type QueryLimit = ReturnType<typeof limitQueries>;
