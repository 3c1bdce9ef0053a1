import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineError, within } from '../deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../mongo.ts';

/**
 * One way of asking the database for many at once. `On` is what it asks, a collection mostly; `Asked` is what one
 * request wants, `Answer` what it gets.
 */
export type Together<On extends object, Asked, Answer> = {
  /** The most that go into one batch. */
  most: number;
  /** A batch is collected for so many milliseconds before it is sent; by default not at all. */
  collectMs?: number;
  /**
   * Asks for a whole batch. It is never empty; a batch of one costs what the plain operation does.
   *
   * @returns an answer for each that asked, in their order; an error fails its own request alone
   * @throws what fails the whole batch
   */
  ask(on: On, batch: Asked[]): Promise<(Answer | Error)[]>;
};

/** So many may wait for their batch, in each lane; those who come then are sent away at once. */
const MOST_WAITING = 5_000;

/**
 * A batch that takes longer, on a connection that was lost or a disk that stalls, holds up the next one no more; so
 * many may be under way then.
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

/** One batch is under way, the next one collects: whoever asks meanwhile goes with that one, never with the one sent. */
class Lane {
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

  ask(asked: unknown, patienceMs: number): Promise<never> {
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new OverloadError());
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    this.#waiting.push({ asked, until: performance.now() + patienceMs, resolve, reject });
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
    // At once: whoever asks from now on must find nobody running.
    this.#running = undefined;
  }

  /**
   * What arrives in the same turn of the event loop goes together. While requests come one by one that is not waited
   * for: each costs a round of the loop less.
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

/** Behind a database that stood still, what nobody waits for any more is not sent after all. */
function stillWaitedFor({ until, reject }: Waiting): boolean {
  if (performance.now() < until) return true;
  reject(new DeadlineError(OPERATION_TIMEOUT_MS));
  return false;
}

/** The lanes of a process: requests that are in flight together share their operations. */
export type Lanes = {
  /**
   * Asks in the next batch of its kind. An operation is sent after every request that it serves has asked, so a
   * reading sees whatever was acknowledged before.
   *
   * @param patienceMs - 5 s unless this says otherwise
   * @throws {OverloadError} when too many wait; {DeadlineError} when the batch could not be sent in that time: in both
   *   cases nothing was sent. Else what `kind.ask` fails this request with
   */
  ask<On extends object, Asked, Answer>(
    kind: Together<On, Asked, Answer>,
    on: On,
    asked: Asked,
    patienceMs?: number,
  ): Promise<Answer>;
  /** Waits for what is under way and what follows from it, `ms` milliseconds at most. */
  settle(ms: number): Promise<void>;
};

/** Opens the lanes of a process: one for each kind and what it asks. */
export function openLanes(): Lanes {
  const lanes = new Map<object, Map<object, Lane>>();

  function laneOf<On extends object, Asked, Answer>(kind: Together<On, Asked, Answer>, on: On): Lane {
    const ofKind = lanes.get(kind) ?? new Map<object, Lane>();
    const lane =
      ofKind.get(on) ?? new Lane(kind.most, kind.collectMs ?? 0, (batch) => kind.ask(on, batch as Asked[]));
    lanes.set(kind, ofKind.set(on, lane));
    return lane;
  }

  return {
    ask: (kind, on, asked, patienceMs = OPERATION_TIMEOUT_MS) => laneOf(kind, on).ask(asked, patienceMs),
    async settle(ms) {
      const allIdle = async () => {
        for (;;) {
          // Whoever was just answered may ask on, in another lane: a vote that was inserted is to be counted.
          await nextTurn();
          const busy = [...lanes.values()].flatMap((ofKind) =>
            [...ofKind.values()].filter((lane) => !lane.isIdle),
          );
          if (busy.length === 0) return;
          await Promise.all(busy.map((lane) => lane.settled()));
        }
      };
      await within(ms, allIdle()).catch(() => undefined);
    },
  };
}
