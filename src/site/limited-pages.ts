import type { FastifyInstance, FastifyRequest } from 'fastify';
import { defineMessage, t } from '../language/t.ts';
import { type Clock, MINUTE } from '../platform/clock.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import { defineLimit, type Limit, limitFor } from '../platform/limits/define-limit.ts';
import { createLocalLimit, type LocalLimit } from '../platform/limits/local-limit.ts';
import { networkOf, networksOf, widerNetworkOf } from '../platform/limits/network-of.ts';
import { refundAll } from '../platform/limits/rate-limit.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { PageError } from './error-pages.ts';
import { inPageSlot } from './page-slots.ts';

const TOO_MANY_PAGES = {
  windowMs: MINUTE,
  sentence: defineMessage('Too many pages from your network address or account.'),
} as const;

export const PAGES_A_MINUTE = 300;

/** A page takes 5 to 25 ms of CPU time. Searches have their own limit (public/limited-search.ts). */
const PAGES = {
  ...TOO_MANY_PAGES,
  what: 'Public pages that are made, not those from the cache',
  times: PAGES_A_MINUTE,
} as const;
const PAGES_OF_NETWORK = defineLimit({ ...PAGES, key: 'pages:address', of: 'network' });
const PAGES_OF_USER = defineLimit({ ...PAGES, key: 'pages:user', of: 'signed-in user' });

/**
 * Counts a page by user, or for visitors by network.
 * @throws {PageError} 429, with the time of the next allowed page
 */
export async function limitPages(deps: AppDeps, request: FastifyRequest): Promise<void> {
  const nextAt = await takeAll(deps, limitsOf(request));
  if (nextAt) throw new PageError(429, t(PAGES.sentence), nextAt);
}

export async function refundPage(deps: AppDeps, request: FastifyRequest): Promise<void> {
  await refundAll(deps, limitsOf(request));
}

function limitsOf({ ip, signedIn }: FastifyRequest): Limit[] {
  return signedIn ? [limitFor(PAGES_OF_USER, signedIn.user._id)] : byNetwork(PAGES_OF_NETWORK, ip);
}

/** A page that refreshes itself makes at most 50 requests per minute, so 12 such pages can be open. */
const OWN_PAGES = defineLimit({
  ...TOO_MANY_PAGES,
  key: 'own-pages',
  what: 'Pages of the dashboard and the account',
  of: 'user',
  times: 600,
  isOfProcess: true,
});

/** Each takes 4 to 9 ms. A forum or chat may request the images for all its users from one address. */
const IMAGES = defineLimit({
  key: 'images',
  what: 'Images and widgets of servers that are made, and downloads',
  of: 'network',
  times: 600,
  windowMs: MINUTE,
  isOfProcess: true,
  sentence: defineMessage('Too many files from your network address.'),
});

/** Each takes 2 to 5 ms. */
const REFUSED_FORMS = defineLimit({
  ...TOO_MANY_PAGES,
  key: 'refused-forms',
  what: 'Refused forms, whatever the type of the answer',
  of: 'user, or for the visitors of a network',
  times: 300,
  isOfProcess: true,
});

declare module 'fastify' {
  interface FastifyInstance {
    ownPages: LocalLimit;
    refusedForms: LocalLimit;
    images: LocalLimit;
  }
}

export function addLocalLimits(app: FastifyInstance, clock: Clock): void {
  app.decorate('ownPages', createLocalLimit(clock, OWN_PAGES));
  app.decorate('refusedForms', createLocalLimit(clock, REFUSED_FORMS));
  app.decorate('images', createLocalLimit(clock, IMAGES));
}

/** Also for downloads, but not for a cached image. @throws {PageError} 429, with the time of the next allowed one */
export async function limitImages({ ip, server: { images } }: FastifyRequest): Promise<void> {
  const nextAt = takeFor(images, ip);
  if (nextAt) throw new PageError(429, t(IMAGES.sentence), nextAt);
}

function takeFor(limit: LocalLimit, ip: string): Date | null {
  for (const { network, factor } of networksOf(ip)) {
    const nextAt = limit(network, 1 / factor);
    if (nextAt) return nextAt;
  }
  return null;
}

/**
 * In a slot for pages, so that a flood of forms delays pages, not votes. Operators need no slot, as in the admin area.
 */
export function makeRefusedForm<T>(request: FastifyRequest, make: () => Promise<T>): Promise<T> {
  return request.signedIn?.user.role === 'operator' ? make() : inPageSlot(request, make);
}

/**
 * If the limit is used up, further forms are refused before their bodies are read; not those of votes, which have
 * limits of their own, so that nobody closes the vote form for their neighbours.
 */
export function limitRefusedForms(app: FastifyInstance): void {
  const isCounted = ({ method, signedIn }: FastifyRequest) =>
    method !== 'GET' && method !== 'HEAD' && signedIn?.user.role !== 'operator';
  app.addHook('onRequest', async (request) => {
    if (!isCounted(request) || request.routeOptions.config.isOfVotes) return;
    const { ip, signedIn } = request;
    const nextAt = signedIn
      ? app.refusedForms.usedUpUntil(signedIn.user._id.toHexString())
      : (app.refusedForms.usedUpUntil(networkOf(ip)) ?? app.refusedForms.usedUpUntil(widerNetworkOf(ip)));
    if (nextAt) throw new PageError(429, TOO_MANY_PAGES.sentence, nextAt);
  });
  app.addHook('onResponse', async (request, reply) => {
    // An answer of 5xx is our fault: during an outage, nobody's forms are used up.
    if (reply.statusCode < 400 || reply.statusCode >= 500 || !isCounted(request)) return;
    const { ip, signedIn } = request;
    if (signedIn) app.refusedForms(signedIn.user._id.toHexString());
    else takeFor(app.refusedForms, ip);
  });
}

export function limitOwnPages(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, signedIn, routeOptions: { config } }) => {
    if (!signedIn || config.skipsSlotHook || (method !== 'GET' && method !== 'HEAD')) return;
    const nextAt = app.ownPages(signedIn.user._id.toHexString());
    if (nextAt) throw new PageError(429, TOO_MANY_PAGES.sentence, nextAt);
  });
}
