import type { FastifyInstance, FastifyRequest } from 'fastify';
import { defineMessage, t } from '../language/t.ts';
import { type Clock, MINUTE } from '../platform/clock.ts';
import { byNetwork, type Limit, takeAll, WIDER_NETWORK_FACTOR } from '../platform/limits/by-network.ts';
import { createLocalLimit, type LocalLimit } from '../platform/limits/local-limit.ts';
import { networkOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { refund } from '../platform/limits/rate-limit.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { PageError } from './error-pages.ts';

/**
 * How many public pages a network or a signed-in user may request per minute, in all web processes together. A page
 * takes 5 to 25 ms of CPU time, so a network can use about a tenth of a CPU. Pages from the cache are not counted, and
 * searches have a limit of their own (public/limited-search.ts).
 */
export const PAGES_A_MINUTE = 300;
const PAGES = { times: PAGES_A_MINUTE, windowMs: MINUTE };

/**
 * Counts a public page before it is made. Signed-in users are counted by user, so that many users behind one address do
 * not share a limit.
 *
 * @throws {PageError} 429, with the time of the next allowed page
 */
export async function limitPages(deps: AppDeps, request: FastifyRequest): Promise<void> {
  const nextAt = await takeAll(deps, limitsOf(request));
  if (nextAt) throw new PageError(429, t('Too many pages from your network address or account.'), nextAt);
}

/** Takes back the count of `limitPages`, for a page that another limit then refused. */
export async function refundPage(deps: AppDeps, request: FastifyRequest): Promise<void> {
  for (const { key } of limitsOf(request)) await refund(deps, key);
}

function limitsOf({ ip, signedIn }: FastifyRequest): Limit[] {
  return signedIn
    ? [{ key: `pages:user:${signedIn.user._id.toHexString()}`, allowance: PAGES }]
    : byNetwork('pages:address', ip, PAGES);
}

/**
 * How many pages of the dashboard and the account a user may request per minute from one process. Such a page costs as
 * much as a public one. A page that refreshes itself makes 50 requests per minute.
 */
const OWN_PAGES = { times: 600, windowMs: MINUTE };

/**
 * How many images and widgets of servers one process makes for a network per minute; for an IPv6 /48, four times as
 * many. Each takes 4 to 9 ms. The limit is higher than the limit of pages: a forum or chat may request the images for
 * all its users from one address.
 */
const IMAGES = { times: 600, windowMs: MINUTE };

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts requests of signed-in users for pages that `limitPages` does not count, by user id. */
    ownPages: LocalLimit;
    /** Counts the images of servers that are made, by the network of the request. */
    images: LocalLimit;
  }
}

/** Adds the limits `ownPages` and `images` to `app`. */
export function addLocalLimits(app: FastifyInstance, clock: Clock): void {
  app.decorate('ownPages', createLocalLimit(clock, OWN_PAGES));
  app.decorate('images', createLocalLimit(clock, IMAGES));
}

/**
 * Counts an image before it is made. If a request gets a cached image, do not call it.
 *
 * @throws {PageError} 429, with the time of the next allowed image
 */
export async function limitImages({ ip, server: { images } }: FastifyRequest): Promise<void> {
  const [network, wider] = [networkOf(ip), widerNetworkOf(ip)];
  const nextAt = images(network) ?? (wider === network ? null : images(wider, 1 / WIDER_NETWORK_FACTOR));
  if (nextAt) throw new PageError(429, t('Too many images from your network address.'), nextAt);
}

/**
 * Limits GET requests of signed-in users to all routes that are registered later in `app`. Public pages are excluded:
 * `limitPages` counts them.
 */
export function limitOwnPages(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, signedIn, routeOptions: { config } }) => {
    if (!signedIn || config.skipsSlotHook || (method !== 'GET' && method !== 'HEAD')) return;
    const nextAt = app.ownPages(signedIn.user._id.toHexString());
    if (nextAt)
      throw new PageError(429, defineMessage('Too many pages from your network address or account.'), nextAt);
  });
}
