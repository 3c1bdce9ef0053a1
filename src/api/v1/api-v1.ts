import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { takeLooseContentTypes } from '../../http/content-type.ts';
import { requireIndexes } from '../../http/database-gates.ts';
import { RefusedError, SENTENCES } from '../../http/http-errors.ts';
import { putVotesFirst } from '../../http/requests.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { addressesEndpoint } from './addresses.ts';
import { isReadBySlug, requireToken } from './authentication.ts';
import { claimEndpoints } from './claim.ts';
import { doneEndpoint } from './deliveries-done.ts';
import { takeEndpoint } from './deliveries-take.ts';
import { goalEndpoint } from './goal.ts';
import { infoEndpoints } from './info.ts';
import type { CountRead } from './open-reads.ts';
import { allowAllOrigins } from './read/cors.ts';
import { reviewsEndpoint } from './reviews.ts';
import { setSafeHeaders } from './safe-headers.ts';
import { statusEndpoint } from './status.ts';
import { voteEndpoint } from './vote.ts';
import { topVotersEndpoint, votesEndpoint } from './votes.ts';

/** The JSON API, version 1. Every endpoint needs a token of the server in its path, unless it has `isOpen` or `isOpenBySlug`. */
export async function apiV1(
  app: FastifyInstance,
  {
    deps,
    metrics,
    restoreGate,
    claimCalls,
    countRead,
  }: {
    deps: AppDeps;
    metrics: Metrics;
    restoreGate: onRequestHookHandler;
    claimCalls: ClaimCalls;
    countRead: CountRead;
  },
): Promise<void> {
  const api = app.withTypeProvider<ZodTypeProvider>();
  setSafeHeaders(api);
  putVotesFirst(api);
  api.addHook('onRequest', restoreGate);
  requireIndexes(api, deps);
  allowOriginsOfOpen(api);
  requireToken(api, deps);
  acceptOnlyJson(api);
  await api.register(voteEndpoint, { deps, metrics });
  await api.register(claimEndpoints, { deps, claimCalls });
  await api.register(votesEndpoint, { deps });
  await api.register(topVotersEndpoint, { deps });
  await api.register(statusEndpoint, { deps });
  await api.register(takeEndpoint, { deps });
  await api.register(doneEndpoint, { deps, metrics });
  await api.register(infoEndpoints, { deps });
  await api.register(goalEndpoint, { deps, countRead });
  await api.register(addressesEndpoint, { deps, countRead });
  await api.register(reviewsEndpoint, { deps, countRead });
}

/** Before the token is checked: scripts may read the 401 too. */
function allowOriginsOfOpen(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { isOpen, isOpenBySlug } = request.routeOptions.config;
    const { server_id: named = '' } = request.params as { server_id?: string };
    if (isOpen || (isOpenBySlug && isReadBySlug(request, named))) allowAllOrigins(reply);
    done();
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const malformed = (sentence: string) => new RefusedError({ status: 400, code: 'malformed', sentence });

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw malformed('The body is empty.');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The body is not valid JSON.');
  }
}

/**
 * Fastify's own parser would silently replace invalid UTF-8. Keys such as `__proto__` are harmless, because the schemas
 * read only the fields that they name.
 */
function acceptOnlyJson(app: FastifyInstance): void {
  takeLooseContentTypes(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    try {
      done(null, parse(bytes));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new RefusedError({ status: 415, code: 'unsupported-media-type', sentence: SENTENCES[415] });
    done(null, payload);
  });
}
