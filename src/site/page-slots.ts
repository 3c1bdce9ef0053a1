import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from '../http/http-errors.ts';
import { SECOND } from '../platform/clock.ts';
import { widerNetworkOf } from '../platform/limits/network-of.ts';

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

/** Signed-in users have as many of their own, so that visitors cannot delay them. */
const PAGES: SlotLimits = { atOnce: 2, mostWaiting: 100, mostOfClient: 20, waitMs: 5 * SECOND };

/** A drawn banner costs two reads, and a page of a forum has many: they do not wait among the pages, nor before them. */
const DRAWN: SlotLimits = { ...PAGES, mostWaiting: 1_000, mostOfClient: 100 };

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route takes a slot itself if its answer is not cached, or it mostly waits for a remote peer. `limitOwnPages`
     * does not count it either.
     */
    skipsSlotHook?: true;
  }
  interface FastifyInstance {
    pageSlots: { visitors: TakeSlot; users: TakeSlot; drawn: TakeSlot };
  }
}

export function addPageSlots(app: FastifyInstance, limits: SlotLimits = PAGES): void {
  app.decorate('pageSlots', {
    visitors: createSlots(limits),
    users: createSlots(limits),
    drawn: createSlots(DRAWN),
  });
}

/** One network cannot fill the whole queue. */
function takeSlot({ server: { pageSlots }, signedIn, ip }: FastifyRequest): Promise<() => void> {
  return signedIn ? pageSlots.users(signedIn.user._id.toHexString()) : pageSlots.visitors(widerNetworkOf(ip));
}

export async function inPageSlot<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  return inSlot(await takeSlot(request), work);
}

export async function inDrawnSlot<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  return inSlot(await request.server.pageSlots.drawn(widerNetworkOf(request.ip)), work);
}

async function inSlot<T>(giveBack: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/**
 * For every GET route that is registered later in `app`. The slot is given back before the page is sent, so a slow
 * client does not occupy it.
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
  // If the client has disconnected, Fastify does not call `onSend`.
  app.addHook('onResponse', async (request) => giveBack(request));
}
