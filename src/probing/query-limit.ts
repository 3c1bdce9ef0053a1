import { QueryError } from './query-error.ts';

/** Who waits longer than this for its turn is not asked. */
const TIMEOUT_MS = 30_000;

type Waiting = { enter(): void };

/** Lets so many at once pass, in the order in which they came. */
export class QueryLimit {
  readonly #atOnce: number;
  readonly #line = new Set<Waiting>();
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /**
   * Waits for one's turn.
   *
   * @returns gives the place to the next one; to be called once
   * @throws {QueryError} `stopped` when the signal ends the wait, or half a minute was not enough
   */
  enter(signal?: AbortSignal): Promise<() => void> {
    const leave = () => this.#leave();
    if (this.#inside < this.#atOnce) {
      this.#inside += 1;
      return Promise.resolve(leave);
    }
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onStop);
        this.#line.delete(waiting);
        act();
      };
      const stopped = (why: string) => settle(() => reject(new QueryError('stopped', why)));
      const onStop = () => stopped('The check was stopped.');
      const waiting: Waiting = { enter: () => settle(() => resolve(leave)) };
      const timer = setTimeout(
        () => stopped('The check could not be made: too many others are under way.'),
        TIMEOUT_MS,
      );
      signal?.addEventListener('abort', onStop);
      this.#line.add(waiting);
    });
  }

  #leave(): void {
    const [next] = this.#line;
    if (next) next.enter();
    else this.#inside -= 1;
  }
}
