import type { ObjectId } from 'mongodb';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import type { DeliveryDeps } from '../deps.ts';
import { DueVotesChannel } from '../due-votes-channel.ts';
import type { FetchingListener } from './fetching-listener.ts';
import { giveBackDeliveries, type TakeCall, type TakenDelivery, takeDeliveries } from './take-deliveries.ts';
import { TakeLimits } from './take-limits.ts';

/** So many takes of one server may wait in a process. */
const MOST_WAITING = 4;
/** One query for all waiting takes finds retries and due votes that Redis did not announce. */
const LOOK_EVERY_MS = 3 * SECOND;

/** `over`: its time is over, its client has left or the process stops. */
type Woken = 'due' | 'over';

/** It has a timer, but no database connection and no query of its own. */
class WaitingTake {
  readonly endsAt: number;
  /** Whether its listener is paused: then no query looks for its votes. */
  isPaused = false;
  #state: Woken | 'quiet' = 'quiet';
  #resume: ((woken: Woken) => void) | null = null;
  readonly #timer: NodeJS.Timeout;
  readonly #leave: () => void;

  constructor(ms: number, leave: (take: WaitingTake) => void) {
    this.endsAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.end(), ms);
    this.#leave = () => leave(this);
  }

  get isIdle(): boolean {
    return this.#resume !== null;
  }

  /** `due` when votes may be due. Resolves at once if `wake` was called since the previous `next`, or after the end. */
  next(): Promise<Woken> {
    if (this.#state !== 'quiet') {
      const woken = this.#state;
      if (woken === 'due') this.#state = 'quiet';
      return Promise.resolve(woken);
    }
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  wake(): void {
    if (this.#state === 'over') return;
    const resume = this.#resume;
    this.#resume = null;
    if (resume) resume('due');
    else this.#state = 'due';
  }

  end(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    this.#leave();
    this.#resume?.('over');
    this.#resume = null;
  }
}

/** The takes of one web process that wait: a message over Redis wakes one; a shared query finds what Redis lost. */
class WaitingTakes {
  readonly #byServer = new Map<string, Set<WaitingTake>>();
  readonly #channel: DueVotesChannel;
  #isClosed = false;

  constructor(deps: DeliveryDeps) {
    this.#channel = new DueVotesChannel(deps, {
      everyMs: LOOK_EVERY_MS,
      servers: () =>
        [...this.#byServer].flatMap(([id, takes]) => ([...takes].some((take) => !take.isPaused) ? [id] : [])),
      wake: (id) => this.wakeOne(id),
    });
  }

  /** After how many ms another take of a server may begin to wait; 0 if it may now. */
  fullFor(serverId: ObjectId): number {
    const takes = this.#byServer.get(serverId.toHexString());
    if (!takes || takes.size < MOST_WAITING) return 0;
    return Math.max(1, Math.min(...[...takes].map(({ endsAt }) => endsAt)) - performance.now());
  }

  /** Call this before looking for votes, so that no vote is missed. */
  begin(serverId: ObjectId, ms: number): WaitingTake {
    const id = serverId.toHexString();
    const take = new WaitingTake(ms, (ended) => this.#remove(id, ended));
    const takes = this.#byServer.get(id) ?? new Set();
    this.#byServer.set(id, takes.add(take));
    if (this.#isClosed) take.end();
    else this.#channel.open();
    return take;
  }

  /**
   * Wakes one idle take of a server, or all if none is idle. If the idle one gets votes, `takeOrWait` wakes the next.
   */
  wakeOne(id: string): void {
    const takes = [...(this.#byServer.get(id) ?? [])];
    const idle = takes.find((take) => take.isIdle);
    if (idle) idle.wake();
    // All are looking for votes at this moment and may have missed the new one.
    else for (const take of takes) take.wake();
  }

  wakeAll(id: string): void {
    for (const take of this.#byServer.get(id) ?? []) take.wake();
  }

  /** Also ends takes that begin later: the process stops (design rule 12). */
  end(): void {
    this.#isClosed = true;
    // Each take removes itself during the iteration, which JavaScript's sets allow.
    for (const takes of this.#byServer.values()) for (const take of takes) take.end();
  }

  close(): void {
    this.end();
    this.#channel.close();
  }

  #remove(id: string, take: WaitingTake): void {
    const takes = this.#byServer.get(id);
    takes?.delete(take);
    if (takes?.size === 0) this.#byServer.delete(id);
  }
}

/** `turns`: the running take of each `request_id`. */
type Takes = { waiting: WaitingTakes; turns: Map<string, Promise<unknown>>; limits: TakeLimits };

export function createTakes(deps: DeliveryDeps): Takes {
  return { waiting: new WaitingTakes(deps), turns: new Map(), limits: new TakeLimits(deps) };
}

export type TakeClient = { hasLeft(): boolean; left: AbortSignal };

type Deps = DeliveryDeps & { takes: Takes };

type TakeAnswer = { taken: TakenDelivery[]; listener: FetchingListener; waitedMs: number };

/**
 * Takes due votes, or waits for some. After a wait the listener is read again, because it may have been paused or
 * changed. If the client has left, its votes are given back and no attempt is counted.
 *
 * @param call - `wait`: begun by the caller, who ends it
 * @throws what `readAgain` throws; {DeadlineError} when MongoDB does not answer within 5 s
 */
export async function takeOrWait(
  deps: Deps,
  first: FetchingListener,
  call: TakeCall & { wait: WaitingTake | null },
  client: TakeClient,
  readAgain: () => Promise<FetchingListener>,
): Promise<TakeAnswer> {
  const { waiting } = deps.takes;
  const { wait } = call;
  const leave = () => wait?.end();
  client.left.addEventListener('abort', leave);
  let waitedMs = 0;
  try {
    for (let listener = first; ; listener = await readAgain()) {
      const taken = await takeForClient(deps, listener, call, client);
      // More votes may be due, also if this call got fewer than it may (`takenTogether`).
      if (taken.length > 0) waiting.wakeOne(listener.serverId.toHexString());
      if (taken.length > 0 || !wait) return { taken, listener, waitedMs };
      wait.isPaused = Boolean(listener.pause);
      const from = performance.now();
      const woken = await wait.next();
      waitedMs += performance.now() - from;
      if (woken === 'over') return { taken, listener, waitedMs };
    }
  } finally {
    client.left.removeEventListener('abort', leave);
  }
}

async function takeForClient(deps: Deps, listener: FetchingListener, call: TakeCall, client: TakeClient) {
  if (client.hasLeft()) return [];
  const take = async () => {
    // Checked again when its turn comes: a repeated call whose client has left must not mark the earlier one's votes.
    if (client.hasLeft()) return [];
    const taken = await takeDeliveries(deps, listener, call);
    if (taken.length === 0 || !client.hasLeft()) return taken;
    await giveBackDeliveries(deps, taken);
    void deps.producer.announceDueVotes(listener.serverId.toHexString());
    return [];
  };
  const taking = inTurn(deps.takes.turns, call.requestId && `${listener.serverId} ${call.requestId}`, take);
  try {
    return await within(OPERATION_TIMEOUT_MS, taking);
  } catch (error) {
    // If the call still takes votes after this, they are given back.
    void taking.then((taken) => giveBackDeliveries(deps, taken)).catch(() => undefined);
    throw error;
  }
}

/** Runs `work` after earlier work of the same key; at once if there is no key. */
async function inTurn<T>(turns: Takes['turns'], key: string | undefined, work: () => Promise<T>): Promise<T> {
  if (!key) return work();
  const before = turns.get(key);
  const running = (async () => {
    await before?.catch(() => undefined);
    return work();
  })();
  turns.set(key, running);
  try {
    return await running;
  } finally {
    if (turns.get(key) === running) turns.delete(key);
  }
}
