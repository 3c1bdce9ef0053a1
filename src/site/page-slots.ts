import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from '../http/http-errors.ts';
import { SECOND } from '../platform/clock.ts';
import { widerNetworkOf } from '../platform/limits/network-of.ts';

/** Limits for work that occupies the event loop, such as making pages. */
export type SlotLimits = {
  atOnce: number;
  /** How many requests may wait for a slot. If more come, they are refused at once. */
  mostWaiting: number;
  /** How many of the waiting requests may come from one client. */
  mostOfClient: number;
  /** The longest wait for a slot, in milliseconds. */
  waitMs: number;
};

/**
 * Takes a slot. If all slots are taken, waits until one is free.
 *
 * @param client - identifies the client, for `mostOfClient`
 * @returns a function that returns the slot; calling it again does nothing
 * @throws {RefusedError} 503 if `mostWaiting` requests (`mostOfClient` of this client) wait already, or after `waitMs`
 */
export type TakeSlot = (client: string) => Promise<() => void>;

/** Creates `atOnce` slots. Requests wait for them in the order of arrival (docs/adr/0112-slots-for-pages.md). */
export function createSlots({ atOnce, mostWaiting, mostOfClient, waitMs }: SlotLimits): TakeSlot {
  let taken = 0;
  /** Each waiting request: the function that gives it a slot, and its client. */
  const waiting = new Map<() => void, string>();

  const waitingOf = (client: string) => [...waiting.values()].filter((other) => other === client).length;
  const giveBack = () => {
    const [next] = waiting.keys();
    if (!next) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    // `setImmediate`: the event loop handles other events first, such as incoming votes.
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
      // If the request is not in the map, it has just got a slot and is not refused.
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

/** The slots for visitors. Signed-in users have as many slots of their own, so that visitors cannot delay them. */
const PAGES: SlotLimits = { atOnce: 2, mostWaiting: 100, mostOfClient: 20, waitMs: 5 * SECOND };

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if the hook of `takePageSlots` must take no slot: because the route takes one itself if its answer is not
     * cached, or because it mostly waits for a remote peer. `limitOwnPages` does not count such routes.
     */
    skipsSlotHook?: true;
  }
  interface FastifyInstance {
    pageSlots: { visitors: TakeSlot; users: TakeSlot };
  }
}

export function addPageSlots(app: FastifyInstance, limits: SlotLimits = PAGES): void {
  app.decorate('pageSlots', { visitors: createSlots(limits), users: createSlots(limits) });
}

/** A visitor is identified by the wider network, so that one network cannot fill the whole queue. */
function takeSlot({ server: { pageSlots }, signedIn, ip }: FastifyRequest): Promise<() => void> {
  return signedIn ? pageSlots.users(signedIn.user._id.toHexString()) : pageSlots.visitors(widerNetworkOf(ip));
}

/** Takes a slot for pages, runs `work`, and returns the slot. */
export async function inPageSlot<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const giveBack = await takeSlot(request);
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/**
 * Takes a slot for every GET request to a route that is registered later in `app`, except routes with `skipsSlotHook`.
 * The slot is returned when the page is made, before it is sent. So a slow client does not occupy a slot.
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
  // If the client has disconnected: Fastify does not call `onSend`, so the slot is returned here.
  app.addHook('onResponse', async (request) => giveBack(request));
}
