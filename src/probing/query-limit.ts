import PQueue from 'p-queue';
import { QueryError } from './query-error.ts';

/** If a query has waited for a slot for this long, it is not made. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Limits how many queries run at once. Further queries wait for a slot, in the order in which they came.
 *
 * @returns a function that runs `query` in a slot. It throws `QueryError` `stopped` if `signal` aborts while the query
 *   waits for a slot, or if it has waited for 30 seconds. A query that has begun is not stopped
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
