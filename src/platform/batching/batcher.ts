import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../app-error.ts';
import { DeadlineError, within } from '../deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../mongo.ts';

/** One database operation on its target, usually a collection, that serves many requests. */
export type BatchLoader<On extends object, Request, Answer> = {
  most: number;
  /** How many milliseconds the first batch after an idle time collects requests before it is sent; 0 by default. */
  collectMs?: number;
  /**
   * Runs the operation for a batch, which is never empty.
   *
   * @returns an answer for each request, in their order; an error fails only its own request
   * @throws an error that fails the whole batch
   */
  load(on: On, batch: Request[]): Promise<(Answer | Error)[]>;
};

/** Further requests are refused at once. */
const MOST_WAITING = 5_000;

/**
 * If a batch has not ended after `LATE_MS`, because of a lost connection or a slow disk, the next one is sent without
 * waiting for it. At most `MOST_UNDER_WAY` batches run at once.
 */
const LATE_MS = 50;
const MOST_UNDER_WAY = 16;

/**
 * If a batch has several requests, the next one begins at least this long after the beginning of that batch, so that
 * frequent requests share operations; or when `ENOUGH` requests wait. After a batch with one request, the next one
 * begins without a delay.
 */
const BUSY_EVERY_MS = 40;
const ENOUGH = 16;

/**
 * A request that is made so soon after an answer may follow from it: it is the next step of the same work, or the next
 * call of a client that waited for it. If all that wait may, and are as many as the last batch had, the next batch
 * begins without a delay: a few clients that call again and again would only stand still, since no other request comes.
 */
const FOLLOWS_WITHIN_MS = 2;

/** Uses the global `setTimeout`, because tests replace that function. */
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A request was refused because too many are waiting. It was not sent to the database. */
export class OverloadError extends AppError {}

type Waiting = {
  request: unknown;
  /** After this time (`performance.now()`) the request is not sent. */
  deadline: number;
  follows: boolean;
  resolve(answer: never): void;
  reject(error: unknown): void;
};

/** While a batch is running, requests are collected for the next one. None joins a batch that was already sent. */
class BatchQueue {
  readonly #send: (batch: unknown[]) => Promise<unknown[]>;
  readonly #most: number;
  readonly #collectMs: number;
  /** The time at which the next batch may begin (`performance.now()`). */
  #nextAt = 0;
  #waiting: Waiting[] = [];
  /** Ends the wait for more requests, or shortens it. */
  #wake: (() => void) | undefined;
  /** When a queue of this process answered last, on `performance.now()`. */
  readonly #answers: { lastAt: number };
  /** How many requests the last batch had. */
  #lastSize = 0;
  #running: Promise<void> | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    { most, collectMs = 0 }: Pick<BatchLoader<object, unknown, unknown>, 'most' | 'collectMs'>,
    answers: { lastAt: number },
    send: (batch: unknown[]) => Promise<unknown[]>,
  ) {
    this.#answers = answers;
    this.#most = most;
    this.#collectMs = collectMs;
    this.#send = send;
  }

  load(request: unknown, timeoutMs: number): Promise<never> {
    if (this.#waiting.length >= MOST_WAITING)
      return Promise.reject(new OverloadError('too many requests wait for the database'));
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    const now = performance.now();
    const follows = now - this.#answers.lastAt < FOLLOWS_WITHIN_MS;
    this.#waiting.push({ request, deadline: now + timeoutMs, follows, resolve, reject });
    this.#running ??= this.#run();
    this.#wake?.();
    return promise;
  }

  get isIdle(): boolean {
    return !this.#running && this.#underWay.size === 0;
  }

  async settled(): Promise<void> {
    while (this.#running) await this.#running;
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    await (this.#collectMs > 0 ? pause(this.#collectMs) : this.#collect());
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#waiting.splice(0, this.#most).filter(isBeforeDeadline);
      this.#lastSize = batch.length;
      this.#nextAt = batch.length > 1 ? performance.now() + BUSY_EVERY_MS : 0;
      if (batch.length > 0) await this.#sendUntilLate(batch);
    }
    // No `await` comes between the check that no request waits and this line, so the next request starts a new run.
    this.#running = undefined;
  }

  /**
   * Collects the requests of one event loop iteration in a batch. If the last batch had one request, it collects only
   * until the next tick, which saves a single request one iteration.
   */
  #collect(): Promise<void> {
    return new Promise((resolve) => (this.#lastSize > 1 ? setImmediate(resolve) : process.nextTick(resolve)));
  }

  async #gather(): Promise<void> {
    let early = this.#early();
    if (early <= 0) return;
    for (; early > 0; early = this.#early()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, early);
      await promise;
      clearTimeout(timer);
    }
    this.#wake = undefined;
    // The requests of one event loop iteration come together.
    await nextTurn();
  }

  /** For how many milliseconds the next batch should not begin yet. */
  #early(): number {
    const { length } = this.#waiting;
    if (length >= Math.min(ENOUGH, this.#most)) return 0;
    if (length >= Math.max(2, this.#lastSize) && this.#waiting.every(({ follows }) => follows)) return 0;
    return Math.min(BUSY_EVERY_MS, this.#nextAt - performance.now());
  }

  async #sendUntilLate(batch: Waiting[]): Promise<void> {
    const answered = this.#answer(batch).finally(() => this.#underWay.delete(answered));
    this.#underWay.add(answered);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LATE_MS);
    await Promise.race([answered, late]);
    clearTimeout(timer);
    if (this.#underWay.size >= MOST_UNDER_WAY) await Promise.race(this.#underWay);
  }

  async #answer(batch: Waiting[]): Promise<void> {
    try {
      const answers = await this.#send(batch.map(({ request }) => request));
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i];
        if (answer instanceof Error) reject(answer);
        else resolve(answer as never);
      });
      this.#answers.lastAt = performance.now();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Whether a request may still be sent. If its deadline has passed, it is rejected. */
function isBeforeDeadline({ deadline, reject }: Waiting): boolean {
  if (performance.now() < deadline) return true;
  reject(new DeadlineError(OPERATION_TIMEOUT_MS));
  return false;
}

/** Requests that are in flight at the same time share database operations. */
export type Batcher = {
  /**
   * The operation is sent after all its requests were made, so a read sees every write that was acknowledged before the
   * request. `timeoutMs` is 5 s by default.
   *
   * @throws {OverloadError} when too many requests are waiting; {DeadlineError} when the batch could not be sent in
   *   that time: nothing was sent. Otherwise the error of `loader.load` for this request
   */
  load<On extends object, Request, Answer>(
    loader: BatchLoader<On, Request, Answer>,
    on: On,
    request: Request,
    timeoutMs?: number,
  ): Promise<Answer>;
  /** Waits at most `ms` milliseconds for the running requests, and for requests that these cause. */
  settle(ms: number): Promise<void>;
};

/** One queue for each loader and target. */
export function createBatcher(): Batcher {
  const queues = new Map<object, Map<object, BatchQueue>>();
  const answers = { lastAt: Number.NEGATIVE_INFINITY };

  function queueFor<On extends object, Request, Answer>(
    loader: BatchLoader<On, Request, Answer>,
    on: On,
  ): BatchQueue {
    const ofLoader = queues.get(loader) ?? new Map<object, BatchQueue>();
    const queue =
      ofLoader.get(on) ?? new BatchQueue(loader, answers, (batch) => loader.load(on, batch as Request[]));
    queues.set(loader, ofLoader.set(on, queue));
    return queue;
  }

  return {
    load: (loader, on, request, timeoutMs = OPERATION_TIMEOUT_MS) =>
      queueFor(loader, on).load(request, timeoutMs),
    async settle(ms) {
      const allIdle = async () => {
        for (;;) {
          // The answer to a request may cause another request: after a vote is inserted, the vote is counted.
          await nextTurn();
          const busy = [...queues.values()].flatMap((ofLoader) =>
            [...ofLoader.values()].filter((queue) => !queue.isIdle),
          );
          if (busy.length === 0) return;
          await Promise.all(busy.map((queue) => queue.settled()));
        }
      };
      await within(ms, allIdle()).catch(() => undefined);
    },
  };
}
