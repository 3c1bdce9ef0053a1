import Fastify from 'fastify';
import { answerClientErrors } from '../http/connection-errors.ts';
import type { ErrorCode } from '../http/error-codes.ts';
import { answerError } from '../http/http-errors.ts';
import type { Config } from '../platform/config.ts';
import { ConfigError } from '../platform/environment.ts';
import type { AppDeps } from './app-deps.ts';
import { healthRoutes, type Readiness } from './health.ts';
import type { Exposition } from './metrics.ts';

type ProcessEndpoints = {
  /** `http://127.0.0.1:9464`. */
  address: string;
  close(): Promise<void>;
};

/** @throws {ConfigError} naming METRICS_PORT or METRICS_HOST when it cannot listen there */
export async function serveProcessEndpoints(
  { config, log }: AppDeps,
  { metrics, readiness }: { metrics: Exposition; readiness: () => Promise<Readiness> },
): Promise<ProcessEndpoints> {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    frameworkErrors: answerError,
    clientErrorHandler: answerClientErrors(),
  });
  await app.register(healthRoutes, { readiness });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.text();
    return reply.type(metrics.contentType).send(text);
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({
      error: 'There is nothing here: see /healthz, /readyz and /metrics.',
      code: 'not-found' satisfies ErrorCode,
    }),
  );

  try {
    const address = await app.listen({ host: config.METRICS_HOST, port: config.METRICS_PORT });
    log.info({ event: 'process.endpoints', address }, `health and metrics on ${address}`);
    return { address, close: () => app.close() };
  } catch (error) {
    await app.close();
    throw listenError(error, config);
  }
}

function listenError(error: unknown, config: Pick<Config, 'METRICS_HOST' | 'METRICS_PORT'>): unknown {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new ConfigError([
      `METRICS_PORT ${port} is taken on ${host} by another process: choose another, or 0 for any free one`,
    ]);
  }
  if (code === 'EACCES')
    return new ConfigError([`METRICS_PORT ${port}: this user is not allowed to open it`]);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ConfigError([`METRICS_HOST ${host} is not an address of this machine`]);
  }
  return error;
}
