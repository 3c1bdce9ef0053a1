import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { AppDeps } from '../../../process/app-deps.ts';
import { type CountRead, requireReadApi } from '../open-reads.ts';
import { setSafeHeaders } from '../safe-headers.ts';
import { allowAllOrigins, answerPreflight } from './cors.ts';
import { historyEndpoint } from './history.ts';
import { liveEndpoint } from './live.ts';
import { createReadDeps } from './read-route.ts';
import { serverEndpoint } from './server.ts';
import { serversEndpoint } from './servers.ts';
import { totalsEndpoints } from './totals.ts';

/** These have routes of their own in `apiV1`, and work without a token too. */
const OPEN_IN_API_V1 = ['goal', 'addresses', 'reviews'];

/** What everybody may read, without a token (docs/read-api.md). Operators switch it off with `READ_API`. */
export async function readApi(
  app: FastifyInstance,
  {
    deps,
    restoreGate,
    countRead,
  }: { deps: AppDeps; restoreGate: onRequestHookHandler; countRead: CountRead },
): Promise<void> {
  const api = app.withTypeProvider<ZodTypeProvider>();
  setSafeHeaders(api);
  api.addHook('onRequest', (_request, reply, done) => {
    allowAllOrigins(reply);
    requireReadApi(deps.config);
    done();
  });
  api.addHook('onRequest', restoreGate);
  const read = createReadDeps(deps, countRead);
  await api.register(liveEndpoint, read);
  await api.register(serversEndpoint, read);
  await api.register(serverEndpoint, read);
  await api.register(historyEndpoint, read);
  await api.register(totalsEndpoints, read);
  for (const url of [
    '/servers',
    '/servers/:slug',
    '/servers/:slug/history',
    '/servers/:slug/live',
    '/games',
    '/stats',
  ])
    answerPreflight(api, url);
  for (const endpoint of OPEN_IN_API_V1) answerPreflight(api, `/servers/:server_id/${endpoint}`);
}
