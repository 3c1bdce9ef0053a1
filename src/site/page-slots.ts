import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from '../http/http-errors.ts';
import { SECOND } from '../platform/clock.ts';
import { widerNetworkOf } from '../platform/limits/network-of.ts';

/** Limits for work that keeps the event loop busy. */
export type SlotLimits = {
  atOnce: number;
  /** How many requests may wait for a slot. Further ones are refused at once. */
  mostWaiting: number;
  /** How many of the waiting requests may come from one client. */
  mostOfClient: number;
  /** The longest wait for a slot, in milliseconds. */
  waitMs: number;
};

/**
 * Takes a slot. If all slots are taken, it waits for one.
 *
 * @param client - identifies the client, for `mostOfClient`
 * @returns a function that returns the slot; calling it again does nothing
 * @throws {RefusedError} 503 when too many requests wait, or too many of this client, or after `waitMs`
 */
export type TakeSlot = (client: string) => Promise<() => void>;

/**
 * Limits how many pieces of work run at once. Waiting work runs in the order of its requests
 * (docs/adr/0112-slots-for-pages.md).
 */
export function createSlots({ atOnce, mostWaiting, mostOfClient, waitMs }: SlotLimits): TakeSlot {
  let taken = 0;
  /** The waiting requests: the function that starts each one, and its client. */
  const waiting = new Map<() => void, string>();

  const waitingOf = (client: string) => [...waiting.values()].filter((other) => other === client).length;
  const giveBack = () => {
    const [next] = waiting.keys();
    if (!next) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    // The next work starts in a later turn of the event loop, so that other events (such as incoming votes) are handled
    // first.
    setImmediate(next);
  };
  const wait = (client: string) => {
    if (waiting.size >= mostWaiting || waitingOf(client) >= mostOfClient) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      // If the request is no longer in the map, it has just got a slot.
      if (waiting.delete(begin)) reject(busy());
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

/**
 * The slots for pages of visitors. Signed-in users have the same number of slots of their own, so that visitors cannot
 * delay them.
 */
const PAGES: SlotLimits = { atOnce: 2, mostWaiting: 100, mostOfClient: 20, waitMs: 5 * SECOND };

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * If true, the hook takes no slot: the route takes one itself when its cached answer is missing, or it mostly waits
     * for a remote peer. `limitOwnPages` does not count such a route.
     */
    skipsSlotHook?: true;
  }
  interface FastifyInstance {
    pageSlots: { visitors: TakeSlot; users: TakeSlot };
  }
}

/** Adds the slots for pages to `app`. */
export function addPageSlots(app: FastifyInstance, limits: SlotLimits = PAGES): void {
  app.decorate('pageSlots', { visitors: createSlots(limits), users: createSlots(limits) });
}

/** Visitors are counted by network, so that one network cannot occupy all waiting places. */
function takeSlot({ server: { pageSlots }, signedIn, ip }: FastifyRequest): Promise<() => void> {
  return signedIn ? pageSlots.users(signedIn.user._id.toHexString()) : pageSlots.visitors(widerNetworkOf(ip));
}

/** Does `work` in a slot for pages. */
export async function inPageSlot<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const giveBack = await takeSlot(request);
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/**
 * Makes every GET request to a route that is registered later in `app` take a slot until its page is made. Routes with
 * `skipsSlotHook` are excluded. The slot is returned before the page is sent, so a slow client does not keep it.
 */
export function takePageSlots(app: FastifyInstance): void {
  const held = new WeakMap<FastifyRequest, () => void>();
  const giveBack = (request: FastifyRequest) => held.get(request)?.();
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    if (request.routeOptions.config.skipsSlotHook) return;
    held.set(request, await takeSlot(request));
  });
  app.addHook('onSend', async (request) => giveBack(request));
  // If the client has disconnected: `onSend` does not run, so the slot is returned when the request ends.
  app.addHook('onResponse', async (request) => giveBack(request));
}
