import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineError, within } from '../deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../mongo.ts';

/**
 * One database operation that serves many requests at once. `On` is what it works on, mostly a collection; `Asked` is
 * what one request wants, `Answer` what it gets.
 */
export type BatchLoader<On extends object, Asked, Answer> = {
  /** The most that go into one batch. */
  most: number;
  /** A batch is collected for this many milliseconds before it is sent; 0 by default. */
  collectMs?: number;
  /**
   * Runs the operation for a whole batch. It is never empty; a batch of one costs what the plain operation does.
   *
   * @returns an answer for each request, in their order; an error fails its own request alone
   * @throws what fails the whole batch
   */
  load(on: On, batch: Asked[]): Promise<(Answer | Error)[]>;
};

/** The most requests that wait for their batch in one queue; further ones are refused at once. */
const MOST_WAITING = 5_000;

/**
 * The next batch waits no longer than this for the one before, which a lost connection or a slow disk may delay; at most
 * this many are under way then.
 */
const LATE_MS = 50;
const MOST_UNDER_WAY = 16;

/** There is too much to do: nothing was sent to the database. */
export class OverloadError extends Error {
  constructor() {
    super('too many requests wait for the database');
    this.name = 'OverloadError';
  }
}

type Waiting = {
  asked: unknown;
  /** On `performance.now()`: it is not sent after that. */
  until: number;
  resolve(answer: never): void;
  reject(error: unknown): void;
};

/** One batch is under way and the next one collects: a request joins the next batch, never the one that was sent. */
class BatchQueue {
  readonly #send: (batch: unknown[]) => Promise<unknown[]>;
  readonly #most: number;
  readonly #collectMs: number;
  #waiting: Waiting[] = [];
  #busy = false;
  #running: Promise<void> | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(most: number, collectMs: number, send: (batch: unknown[]) => Promise<unknown[]>) {
    this.#most = most;
    this.#collectMs = collectMs;
    this.#send = send;
  }

  load(asked: unknown, timeoutMs: number): Promise<never> {
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new OverloadError());
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    this.#waiting.push({ asked, until: performance.now() + timeoutMs, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  get isIdle(): boolean {
    return !this.#running && this.#underWay.size === 0;
  }

  /** Settles when nothing is under way or waits any more. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    await (this.#collectMs > 0 ? pause(this.#collectMs) : this.#turn());
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#most).filter(stillWaitedFor);
      this.#busy = batch.length > 1;
      if (batch.length > 0) await this.#untilAnsweredOrLate(batch);
    }
    // Before anything is awaited: the next request starts a new run.
    this.#running = undefined;
  }

  /**
   * Requests of the same turn of the event loop share a batch. While they come one by one it does not wait for the end of
   * the turn, which saves each of them a round of the loop.
   */
  #turn(): Promise<void> {
    return new Promise((resolve) => (this.#busy ? setImmediate(resolve) : process.nextTick(resolve)));
  }

  async #untilAnsweredOrLate(batch: Waiting[]): Promise<void> {
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
      const answers = await this.#send(batch.map(({ asked }) => asked));
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i];
        if (answer instanceof Error) reject(answer);
        else resolve(answer as never);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** A request that timed out while the database did not answer is not sent. */
function stillWaitedFor({ until, reject }: Waiting): boolean {
  if (performance.now() < until) return true;
  reject(new DeadlineError(OPERATION_TIMEOUT_MS));
  return false;
}

/** The batcher of a process: requests that are in flight together share their operations. */
export type Batcher = {
  /**
   * Adds a request to the next batch of its loader. An operation is sent after all requests that it serves were made, so
   * a read sees whatever was acknowledged before.
   *
   * @param timeoutMs - 5 s by default
   * @throws {OverloadError} when too many wait; {DeadlineError} when the batch could not be sent in that time: in both
   *   cases nothing was sent. Else what `loader.load` fails this request with
   */
  load<On extends object, Asked, Answer>(
    loader: BatchLoader<On, Asked, Answer>,
    on: On,
    asked: Asked,
    timeoutMs?: number,
  ): Promise<Answer>;
  /** Waits for what is under way and what follows from it, `ms` milliseconds at most. */
  settle(ms: number): Promise<void>;
};

/** Creates the batcher of a process, with one queue for each loader and what it works on. */
export function createBatcher(): Batcher {
  const queues = new Map<object, Map<object, BatchQueue>>();

  function queueFor<On extends object, Asked, Answer>(
    loader: BatchLoader<On, Asked, Answer>,
    on: On,
  ): BatchQueue {
    const ofLoader = queues.get(loader) ?? new Map<object, BatchQueue>();
    const { most, collectMs = 0 } = loader;
    const queue =
      ofLoader.get(on) ?? new BatchQueue(most, collectMs, (batch) => loader.load(on, batch as Asked[]));
    queues.set(loader, ofLoader.set(on, queue));
    return queue;
  }

  return {
    load: (loader, on, asked, timeoutMs = OPERATION_TIMEOUT_MS) =>
      queueFor(loader, on).load(asked, timeoutMs),
    async settle(ms) {
      const allIdle = async () => {
        for (;;) {
          // An answered request may make another one: a vote that was inserted is counted next.
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
