import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from '../http/http-errors.ts';
import { SECOND } from '../platform/clock.ts';
import { siteOf } from '../platform/limits/network-of.ts';

/** Limits for work that keeps the event loop busy. */
export type SlotLimits = {
  atOnce: number;
  /** How many may wait for a slot; further ones are refused at once. */
  mostWaiting: number;
  /** How many of them may be of one client. */
  mostOfClient: number;
  /** The longest wait for a slot, in milliseconds. */
  waitMs: number;
};

/**
 * Takes a slot, and waits for it if all are taken.
 *
 * @param client - whose requests share `mostOfClient`
 * @returns a function that gives the slot back; further calls of it do nothing
 * @throws {RefusedError} 503 when too many wait, or too many of this client, or after the longest wait
 */
export type TakeSlot = (client: string) => Promise<() => void>;

/** Limits how much work runs at once, in the order of its requests (docs/adr/0112-slots-for-pages.md). */
export function createSlots({ atOnce, mostWaiting, mostOfClient, waitMs }: SlotLimits): TakeSlot {
  let taken = 0;
  /** What begins the work of each request that waits, and its client. */
  const waiting = new Map<() => void, string>();

  const waitingOf = (client: string) => [...waiting.values()].filter((other) => other === client).length;
  const giveBack = () => {
    const [next] = waiting.keys();
    if (!next) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    // The next work does not begin at once: first the event loop handles what has arrived meanwhile, such as votes.
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
      // If it is not waiting any more, it has a slot already.
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
 * The slots for the pages of visitors. Signed-in users have as many of their own, so that strangers cannot delay them.
 */
const PAGES: SlotLimits = { atOnce: 2, mostWaiting: 100, mostOfClient: 20, waitMs: 5 * SECOND };

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

/** A visitor's client is their network, so that one network cannot make all others wait or be refused. */
function takeSlot({ server: { pageSlots }, signedIn, ip }: FastifyRequest): Promise<() => void> {
  return signedIn ? pageSlots.users(signedIn.user._id.toHexString()) : pageSlots.visitors(siteOf(ip));
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
 * Makes every GET request to a later route of `app` take a slot until its page is made, unless the route takes it
 * itself. Sending the page needs no slot: a slow client keeps none.
 */
export function takePageSlots(app: FastifyInstance): void {
  const held = new WeakMap<FastifyRequest, () => void>();
  const giveBack = (request: FastifyRequest) => held.get(request)?.();
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    if (request.routeOptions.config.takesSlot) return;
    held.set(request, await takeSlot(request));
  });
  app.addHook('onSend', async (request) => giveBack(request));
  // If the client is gone, nothing is sent.
  app.addHook('onResponse', async (request) => giveBack(request));
}
