import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createSlots, inSlot, type SlotLimits, type TakeSlot } from '../http/slots.ts';
import { SECOND } from '../platform/clock.ts';
import { widerNetworkOf } from '../platform/limits/network-of.ts';

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
