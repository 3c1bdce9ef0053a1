import type { FastifyReply, FastifyRequest } from 'fastify';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork } from '../../platform/limits/by-network.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import { useAllowances } from '../../platform/limits/rate-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasNoToken } from './authentication.ts';
import { RATE_LIMIT_HEADERS, rateLimitHeaders, tooEarly, tooManyRequests } from './schemas.ts';

export const READS = defineLimit({
  key: 'read-api',
  what: 'Calls of the API without a token',
  of: 'network',
  times: 120,
  windowMs: MINUTE,
  beyond: 'the answer is 429',
});

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

/** Counts a call without a token; calls with one have no limit. @throws {RefusedError} 429 if it is used up */
export async function countRead(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!hasNoToken(request)) return;
  const counted = [];
  for (const limit of byNetwork(READS, request.ip)) {
    const { taken, left, resetAt } = await useAllowances(deps, limit, 1);
    counted.push({ ...limit, name: counted.length === 0 ? 'network' : 'wider-network', left, resetAt });
    reply.headers(rateLimitHeaders(counted, deps.clock));
    if (taken === 0) throw tooManyRequests('The next call without a token', resetAt, deps.clock);
  }
}
