import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

export type SlotLimits = {
  atOnce: number;
  mostWaiting: number;
  mostOfClient: number;
  waitMs: number;
};

/**
 * Waits until a slot is free. The result gives it back; calling it again does nothing.
 * @throws {RefusedError} 503 if `mostWaiting` requests (`mostOfClient` of this client) wait already, or after `waitMs`
 */
export type TakeSlot = (client: string) => Promise<() => void>;

/** Requests get slots in the order of arrival (docs/adr/0112-slots-for-pages.md). */
export function createSlots({ atOnce, mostWaiting, mostOfClient, waitMs }: SlotLimits): TakeSlot {
  let taken = 0;
  const waiting = new Map<() => void, string>();

  const waitingOf = new Map<string, number>();

  const leave = (one: () => void) => {
    const client = waiting.get(one);
    if (client === undefined) return false;
    waiting.delete(one);
    const left = (waitingOf.get(client) ?? 0) - 1;
    if (left > 0) waitingOf.set(client, left);
    else waitingOf.delete(client);
    return true;
  };
  const giveBack = () => {
    const [next] = waiting.keys();
    if (!next) {
      taken -= 1;
      return;
    }
    leave(next);
    // The event loop handles other events first, such as incoming votes.
    setImmediate(next);
  };
  const wait = (client: string) => {
    const ofClient = waitingOf.get(client) ?? 0;
    if (waiting.size >= mostWaiting || ofClient >= mostOfClient) throw busy();
    waitingOf.set(client, ofClient + 1);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      // If it is not in the map, it has just got a slot.
      if (leave(begin)) reject(busy());
    }, waitMs);
    waiting.set(begin, client);
    return promise;
  };

  return async (client) => {
    if (taken < atOnce) taken += 1;
    else await wait(client);
    let isHeld = true;
    return () => {
      if (isHeld) giveBack();
      isHeld = false;
    };
  };
}

function busy(): RefusedError {
  return new RefusedError(unavailable('overloaded', SENTENCES.overload));
}

export async function inSlot<T>(giveBack: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    giveBack();
  }
}
