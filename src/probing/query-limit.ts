import { QueryError } from './query-error.ts';

/** The longest wait for a slot. */
const TIMEOUT_MS = 30_000;

type Waiting = { start(): void };

/** A concurrency limit. Waiting queries get slots in their order of arrival. */
export class QueryLimit {
  readonly #concurrency: number;
  readonly #queue = new Set<Waiting>();
  #running = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /**
   * Waits for a slot.
   *
   * @returns a function that releases the slot; call it once
   * @throws {QueryError} `stopped` when the signal is aborted or there is no slot within 30 s
   */
  acquire(signal?: AbortSignal): Promise<() => void> {
    const release = () => this.#release();
    if (this.#running < this.#concurrency) {
      this.#running += 1;
      return Promise.resolve(release);
    }
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onStop);
        this.#queue.delete(waiting);
        act();
      };
      const stopped = (why: string) => settle(() => reject(new QueryError('stopped', why)));
      const onStop = () => stopped('The check was stopped.');
      const waiting: Waiting = { start: () => settle(() => resolve(release)) };
      const timer = setTimeout(
        () => stopped('The check could not be made: too many other checks are running.'),
        TIMEOUT_MS,
      );
      signal?.addEventListener('abort', onStop);
      this.#queue.add(waiting);
    });
  }

  #release(): void {
    const [next] = this.#queue;
    if (next) next.start();
    else this.#running -= 1;
  }
}
