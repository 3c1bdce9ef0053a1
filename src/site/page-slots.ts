import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SECOND } from '../platform/clock.ts';
import { RefusedError, SENTENCES, unavailable } from '../process/http-errors.ts';

/** Limits for work that keeps the event loop busy. */
export type SlotLimits = {
  atOnce: number;
  /** How many may wait for a slot; further ones are refused at once. */
  mostWaiting: number;
  /** The longest wait for a slot, in milliseconds. */
  waitMs: number;
};

/**
 * Takes a slot, and waits for it if all are taken.
 *
 * @returns a function that gives the slot back; further calls of it do nothing
 * @throws {RefusedError} 503 when too many wait, or after the longest wait
 */
export type TakeSlot = () => Promise<() => void>;

/** Limits how much work runs at once, in the order of its requests (docs/adr/0112-slots-for-pages.md). */
export function createSlots({ atOnce, mostWaiting, waitMs }: SlotLimits): TakeSlot {
  let taken = 0;
  const waiting = new Set<() => void>();

  const giveBack = () => {
    const [next] = waiting;
    if (!next) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    // Not at once: first the event loop handles what has arrived meanwhile, such as votes.
    setImmediate(next);
  };
  const wait = () => {
    if (waiting.size >= mostWaiting) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      // If it is not waiting any more, it has a slot already.
      if (waiting.delete(begin)) reject(busy());
    }, waitMs);
    waiting.add(begin);
    return promise;
  };

  return async () => {
    if (taken < atOnce) taken += 1;
    else await wait();
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

/** For the pages of visitors, and again as much for those of signed-in users, so that strangers cannot delay them. */
const PAGES: SlotLimits = { atOnce: 2, mostWaiting: 100, waitMs: 5 * SECOND };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a slot itself, only when it makes its answer anew; or it waits for a peer and needs none. */
    takesSlot?: true;
  }
  interface FastifyInstance {
    pageSlots: { visitors: TakeSlot; users: TakeSlot };
  }
}

/** Adds the slots for pages to `app`. */
export function addPageSlots(app: FastifyInstance, limits: SlotLimits = PAGES): void {
  app.decorate('pageSlots', { visitors: createSlots(limits), users: createSlots(limits) });
}

function slotsOf({ server: { pageSlots }, signedIn }: FastifyRequest): TakeSlot {
  return signedIn ? pageSlots.users : pageSlots.visitors;
}

/** Does `work` in a slot for pages. */
export async function inPageSlot<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const giveBack = await slotsOf(request)();
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/**
 * Makes every GET request to a later route of `app` take a slot until its page is made, unless the route takes it
 * itself. Sending the page needs no slot: a slow client keeps none.
 */
export function takePageSlots(app: FastifyInstance): void {
  const held = new WeakMap<FastifyRequest, () => void>();
  const giveBack = (request: FastifyRequest) => held.get(request)?.();
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    if (request.routeOptions.config.takesSlot) return;
    held.set(request, await slotsOf(request)());
  });
  app.addHook('onSend', async (request) => giveBack(request));
  // If the client is gone, nothing is sent.
  app.addHook('onResponse', async (request) => giveBack(request));
}
