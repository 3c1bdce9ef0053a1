import { randomUUID } from 'node:crypto';
import helmet from '@fastify/helmet';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { claimContracts } from './api/claims/claims.ts';
import { describeApi, openApiDocument } from './api/openapi.ts';
import { compileSerializer } from './api/serializer.ts';
import { apiV1 } from './api/v1/api-v1.ts';
import { createCountRead } from './api/v1/open-reads.ts';
import { readApi } from './api/v1/read/read-api.ts';
import { plainAddresses } from './http/client-addresses.ts';
import { answerClientErrors, answerExpectations, answerHalfClosed } from './http/connection-errors.ts';
import { createRestoreGate } from './http/database-gates.ts';
import { warnOfForwardedHeaders } from './http/forwarded-headers.ts';
import { answerError } from './http/http-errors.ts';
import { boundConnections } from './http/limit-connections.ts';
import { boundPipelining } from './http/pipelining.ts';
import { parseQuery, refuseManyFields } from './http/query-string.ts';
import { BODY_LIMIT, HEADER_LIMIT } from './http/request-limits.ts';
import { closeConnections, refuseOverload, watchRequests } from './http/requests.ts';
import { traceRequests } from './http/trace-requests.ts';
import { takeTurns } from './http/turns.ts';
import { refuseUnknownPaths } from './http/unknown-paths.ts';
import { SECOND } from './platform/clock.ts';
import type { AppDeps } from './process/app-deps.ts';
import { healthRoutes, type Readiness } from './process/health.ts';
import { type Metrics, measureRequests } from './process/metrics.ts';
import { loadAssets } from './site/assets.ts';
import { docPages } from './site/doc-pages.ts';
import { docsPage } from './site/docs.ts';
import { handleErrors } from './site/error-pages.ts';
import { addLocalLimits } from './site/limited-pages.ts';
import { chooseLanguage } from './site/page-language.ts';
import { addPageSlots } from './site/page-slots.ts';
import { decorateSite } from './site/shared/decorate-site.ts';
import { site } from './site/site.ts';
import { createClaimCalls } from './votes/claims/claim-calls.ts';

type WebParts = {
  metrics: Metrics;
  readiness: () => Promise<Readiness>;
  /** From the begin of the shutdown on, each answer closes its connection. */
  stopping: AbortSignal;
  /** From just before the port closes on, each request is answered with 503. Defaults to `stopping`. */
  closing?: AbortSignal;
};

export async function buildApp(deps: AppDeps, parts: WebParts): Promise<FastifyInstance> {
  const { config } = deps;
  const app = openApp(deps);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(compileSerializer);
  answerExpectations(app.server, errorDocsOf(config));
  answerHalfClosed(app.server);
  plainAddresses(app, config.TRUST_PROXY);
  boundConnections(app, deps);
  // Registered before the hooks below, so that they run inside the request's span.
  if (deps.tracing.isOn) traceRequests(app, deps.tracing);

  const assets = await loadAssets(config);
  decorateSite(app, deps, assets);
  addPageSlots(app);
  addLocalLimits(app, deps.clock);
  handleErrors(app);
  chooseLanguage(app, config);
  await app.register(helmet, { strictTransportSecurity: config.PUBLIC_URL.startsWith('https:') });
  watchRequests(app);
  takeTurns(app);
  refuseManyFields(app);
  warnOfForwardedHeaders(app, config.TRUST_PROXY);
  boundPipelining(app);
  measureRequests(app, parts.metrics);
  refuseUnknownPaths(app, config.basePath);
  closeConnections(app, { stopping: parts.stopping, closing: parts.closing ?? parts.stopping });
  await refuseOverload(app, config.MAX_EVENT_LOOP_DELAY_MS);
  await describeApi(app, { publicUrl: config.PUBLIC_URL });

  const base = { prefix: config.basePath };
  const restoreGate = createRestoreGate(app, deps);
  const claimCalls = createClaimCalls(deps.clock);
  await app.register(healthRoutes, { readiness: parts.readiness });
  if (config.basePath) await app.register(healthRoutes, { ...base, readiness: parts.readiness });
  const countRead = createCountRead(deps);
  // First, so that its event streams are the first to end when the application is closed.
  await app.register(readApi, { prefix: `${config.basePath}/api/v1`, deps, restoreGate, countRead });
  await app.register(apiV1, {
    prefix: `${config.basePath}/api/v1/servers/:server_id`,
    deps,
    metrics: parts.metrics,
    restoreGate,
    claimCalls,
    countRead,
  });
  await app.register(claimContracts, { ...base, deps, restoreGate, claimCalls });
  await app.register(openApiDocument, base);
  await app.register(docPages, base);
  await app.register(docsPage, { ...base, deps, openApiUrl: `${config.basePath}/openapi.json` });
  await app.register(site, { ...base, deps, metrics: parts.metrics, assets, restoreGate });
  return app;
}

const errorDocsOf = ({ PUBLIC_URL }: AppDeps['config']) => `${PUBLIC_URL.replace(/\/+$/, '')}/docs/errors`;

function openApp({ config, log }: AppDeps): FastifyInstance {
  const { TRUST_PROXY: trust } = config;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // Given a number, Fastify trusts no proxy.
    trustProxy: typeof trust === 'number' ? (_address, hop) => hop < trust : trust,
    bodyLimit: BODY_LIMIT,
    requestTimeout: 15 * SECOND,
    connectionTimeout: 60 * SECOND,
    keepAliveTimeout: 75 * SECOND,
    http: {
      headersTimeout: 10 * SECOND,
      connectionsCheckingInterval: SECOND,
      maxHeaderSize: HEADER_LIMIT,
      // `watchRequests` refuses requests without Host. Node's answer would have no body.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    // So the API answers a very long server id with 401, like every other unknown id.
    routerOptions: { maxParamLength: HEADER_LIMIT, querystringParser: parseQuery },
    frameworkErrors: answerError,
    clientErrorHandler: answerClientErrors(errorDocsOf(config)),
  }) as unknown as FastifyInstance;
  return app.decorate('errorDocs', errorDocsOf(config));
}
