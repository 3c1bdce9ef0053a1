import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { RefusedError } from '../../http/http-errors.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork } from '../../platform/limits/by-network.ts';
import { defineLimit, type Limit } from '../../platform/limits/define-limit.ts';
import { useAllowances } from '../../platform/limits/rate-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { RATE_LIMIT_HEADERS, rateLimitHeaders, tooEarly, tooManyRequests } from './schemas.ts';

export const READS = defineLimit({
  key: 'read-api',
  what: 'Calls of the API without a token',
  of: 'network',
  times: 120,
  windowMs: MINUTE,
  beyond: 'the answer is 429',
});

/** Searches and histories by the hour read far more than other calls. */
export const DEAR = 4;

/** Calls with a token have no limit, so their answers have none of these headers. */
export const READS_HEADERS = {
  'RateLimit-Policy': {
    type: 'string',
    description: `Only without a token. ${RATE_LIMIT_HEADERS['RateLimit-Policy'].description}`,
  },
  RateLimit: {
    type: 'string',
    description: `Only without a token. ${RATE_LIMIT_HEADERS.RateLimit.description}`,
  },
} as const;

/** In the descriptions of these endpoints. */
export const WITHOUT_TOKEN = `With a token of the server there is no rate limit. Without a token it works while the server is listed, ${READS.times} times a minute for a network; a hidden server is 401 then.`;

/** Their 429. */
export const READ_REFUSED = tooEarly(
  'too-many-requests',
  'next_allowed_at',
  'ReadRefused',
  `Over ${READS.times} calls without a token in a minute came from this network.`,
);

/** Counts a call without a token, as `cost` calls. @throws {RefusedError} 429 if the limit is used up */
export type CountRead = (request: FastifyRequest, reply: FastifyReply, cost?: number) => Promise<void>;

/** How many calls a process takes from a limit at once, so that not each call costs a write. */
const MOST_TAKEN = 10;
const MOST_NETWORKS = 20_000;

/** What a process has taken of a limit in the present window: `taken` in total, `own` of it are not used yet. */
type Share = { own: number; taken: number; left: number; resetAt: Date };

/** One for a process. The limit holds for all processes together; what one has taken and not used is lost to the others. */
export function createCountRead(deps: AppDeps): CountRead {
  // With `max` the library would reserve the memory of all networks at once.
  const shares = new LRUCache<string, Share>({ maxSize: MOST_NETWORKS, sizeCalculation: () => 1 });

  const use = async (limit: Limit, cost: number) => {
    const isOver = ({ resetAt }: Share) => resetAt <= deps.clock.now();
    const before = shares.get(limit.key);
    const known =
      before && !isOver(before) ? before : { own: 0, taken: 0, left: limit.times, resetAt: new Date(0) };
    if (known.own < cost && known.left > 0) {
      // The more a network calls, the more is taken at once; a network that calls once takes once.
      const wanted = Math.max(cost - known.own, Math.min(known.taken, MOST_TAKEN));
      const { taken, left, resetAt } = await useAllowances(deps, limit, wanted);
      const now = shares.get(limit.key);
      // Another call may have taken some meanwhile.
      const share =
        now && now.resetAt.getTime() === resetAt.getTime() ? now : { own: 0, taken: 0, left, resetAt };
      Object.assign(share, { own: share.own + taken, taken: share.taken + taken, left });
      shares.set(limit.key, share);
      return spend(share, cost);
    }
    return spend(known, cost);
  };

  return async (request, reply, cost = 1) => {
    const counted = [];
    for (const limit of byNetwork(READS, request.ip)) {
      const { isAllowed, left, resetAt } = await use(limit, cost);
      counted.push({ ...limit, name: counted.length === 0 ? 'network' : 'wider-network', left, resetAt });
      reply.headers(rateLimitHeaders(counted, deps.clock));
      if (!isAllowed) throw tooManyRequests('The next call without a token', resetAt, deps.clock);
    }
  };
}

function spend(share: Share, cost: number) {
  const isAllowed = share.own >= cost;
  if (isAllowed) share.own -= cost;
  return { isAllowed, left: isAllowed ? share.own + share.left : 0, resetAt: share.resetAt };
}

/** @throws {RefusedError} 404 if the operators have switched off the API without a token */
export function requireReadApi({ READ_API }: AppDeps['config']): void {
  if (READ_API === 'on') return;
  throw new RefusedError({
    status: 404,
    code: 'disabled',
    sentence: 'The operators of this listing have switched off the API without a token.',
  });
}
