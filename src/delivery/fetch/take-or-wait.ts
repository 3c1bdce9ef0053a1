import { within } from '../../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import type { Producer } from '../../platform/producer.ts';
import type { FetchingListener } from './fetching-listener.ts';
import {
  type FetchDeps,
  giveBackDeliveries,
  type TakeCall,
  type TakenDelivery,
  takeDeliveries,
} from './take-deliveries.ts';
import type { WaitingTakes } from './waiting-takes.ts';

/** The client of a call: whether it has left, and a signal of that. */
export type TakeClient = { hasLeft(): boolean; left: AbortSignal };

/** The takes of one process: calls with the same `request_id` run one after the other. */
export type TakeTurns = Map<string, Promise<unknown>>;

type Deps = FetchDeps & { producer: Producer; takes: WaitingTakes; turns: TakeTurns };

/** The result of a take. `listener`: the listener whose votes were taken, as it was then. */
export type TakeAnswer = { taken: TakenDelivery[]; listener: FetchingListener; waitedMs: number };

/**
 * Takes due votes, or waits for some. After a wait the listener is read again, because it may have been paused or changed.
 *
 * @param call - `waitMs` 0: does not wait
 * @param client - votes that its client can no longer get are given back, uncounted
 * @param readAgain - returns the listener; its error ends the call
 * @throws what `readAgain` throws, the driver's error, {DeadlineError} when MongoDB does not answer within 5 s
 */
export async function takeOrWait(
  deps: Deps,
  first: FetchingListener,
  call: TakeCall & { waitMs: number },
  client: TakeClient,
  readAgain: () => Promise<FetchingListener>,
): Promise<TakeAnswer> {
  const { takes } = deps;
  const wait = call.waitMs > 0 ? takes.begin(first.serverId, call.waitMs) : null;
  const leave = () => wait?.end();
  client.left.addEventListener('abort', leave);
  let waitedMs = 0;
  try {
    for (let listener = first; ; listener = await readAgain()) {
      const taken = listener.pause ? [] : await takeForClient(deps, listener, call, client);
      // A repeated call may get the votes of two processes, and so more than `most`.
      if (taken.length >= call.most) takes.wakeOne(listener.serverId.toHexString());
      if (taken.length > 0 || !wait) return { taken, listener, waitedMs };
      wait.isPaused = Boolean(listener.pause);
      const from = performance.now();
      const woken = await wait.next();
      waitedMs += performance.now() - from;
      if (woken === 'over') return { taken, listener, waitedMs };
    }
  } finally {
    client.left.removeEventListener('abort', leave);
    wait?.end();
  }
}

async function takeForClient(
  deps: Deps,
  listener: FetchingListener,
  call: TakeCall,
  client: TakeClient,
): Promise<TakenDelivery[]> {
  if (client.hasLeft()) return [];
  const take = async () => {
    // Asked again when the turn begins: a repeat whose client has left must not keep the votes of the first call.
    if (client.hasLeft()) return [];
    const taken = await takeDeliveries(deps, listener, call);
    if (taken.length === 0 || !client.hasLeft()) return taken;
    await giveBackDeliveries(deps, taken);
    void deps.producer.announceDueVotes(listener.serverId.toHexString());
    return [];
  };
  const taking = inTurn(deps.turns, call.requestId && `${listener.serverId} ${call.requestId}`, take);
  try {
    return await within(OPERATION_TIMEOUT_MS, taking);
  } catch (error) {
    // The call fails now: what it still takes goes back.
    void taking.then((taken) => giveBackDeliveries(deps, taken)).catch(() => undefined);
    throw error;
  }
}

/** Runs `work` after earlier work of the same key. */
async function inTurn<T>(turns: TakeTurns, key: string | undefined, work: () => Promise<T>): Promise<T> {
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
