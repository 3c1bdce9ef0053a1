import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { requireIndexes } from '../../http/database-gates.ts';
import { putVotesFirst } from '../../http/requests.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { acceptOnlyJson } from '../json-body.ts';
import { requireToken } from './authentication.ts';
import { checkVoteEndpoint } from './check-vote.ts';
import { claimEndpoint } from './claim.ts';
import { doneEndpoint } from './deliveries-done.ts';
import { takeEndpoint } from './deliveries-take.ts';
import { infoEndpoint } from './info.ts';
import { playerNamesEndpoint } from './player-names.ts';
import { reviewsEndpoint } from './reviews.ts';
import { setSafeHeaders } from './safe-headers.ts';
import { statusEndpoint } from './status.ts';
import { topVotersEndpoint } from './top-voters.ts';
import { voteEndpoint } from './vote.ts';
import { votesEndpoint } from './votes.ts';

/** The JSON API, version 1. Every endpoint needs a token of the server in its path. */
export async function apiV1(
  app: FastifyInstance,
  {
    deps,
    metrics,
    restoreGate,
    claimCalls,
  }: {
    deps: AppDeps;
    metrics: Metrics;
    restoreGate: onRequestHookHandler;
    claimCalls: ClaimCalls;
  },
): Promise<void> {
  const api = app.withTypeProvider<ZodTypeProvider>();
  setSafeHeaders(api);
  putVotesFirst(api);
  api.addHook('onRequest', restoreGate);
  requireIndexes(api, deps);
  requireToken(api, deps);
  acceptOnlyJson(api);
  await api.register(voteEndpoint, { deps, metrics });
  await api.register(checkVoteEndpoint, { deps, claimCalls });
  await api.register(claimEndpoint, { deps, claimCalls });
  await api.register(votesEndpoint, { deps });
  await api.register(topVotersEndpoint, { deps });
  await api.register(statusEndpoint, { deps });
  await api.register(takeEndpoint, { deps });
  await api.register(doneEndpoint, { deps, metrics });
  await api.register(infoEndpoint, { deps });
  await api.register(playerNamesEndpoint, { deps });
  await api.register(reviewsEndpoint, { deps });
}
