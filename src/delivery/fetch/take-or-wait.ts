import { within } from '../../platform/deadline.ts';
import { OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import type { DeliveryDeps } from '../deps.ts';
import type { FetchingListener } from './fetching-listener.ts';
import { giveBackDeliveries, type TakeCall, type TakenDelivery, takeDeliveries } from './take-deliveries.ts';
import { TakeLimits } from './take-limits.ts';
import { type WaitingTake, WaitingTakes } from './waiting-takes.ts';

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

async function takeForClient(
  deps: Deps,
  listener: FetchingListener,
  call: TakeCall,
  client: TakeClient,
): Promise<TakenDelivery[]> {
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
