import Fastify from 'fastify';
import { hasOperator } from '../accounts/setup.ts';
import { answerClientErrors } from '../http/connection-errors.ts';
import type { ErrorCode } from '../http/error-codes.ts';
import { answerError } from '../http/http-errors.ts';
import { SECOND } from '../platform/clock.ts';
import { type Config, type ConnectedConfig, loadConfig } from '../platform/config.ts';
import { endWithParent } from '../platform/end-with-parent.ts';
import { ConfigError } from '../platform/environment.ts';
import type { OpenOptions } from '../platform/resources.ts';
import { onStopSignal } from '../platform/stop-signals.ts';
import { awaitVariables } from '../platform/variables-of-parent.ts';
import { type AppDeps, openAppDeps } from './app-deps.ts';
import { healthRoutes, watchReadiness } from './health.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createMetrics, type Exposition, type Metrics } from './metrics.ts';
import { warnOfUnreadableSecrets } from './unreadable-secrets.ts';

export type ProcessContext = {
  metrics: Metrics;
  /** Aborted when the process begins to stop. */
  stopping: AbortSignal;
  readiness: ReturnType<typeof watchReadiness>;
};

export type Work = {
  /** Stops the work and closes its own resources, but not `deps`. */
  close(): Promise<void>;
};

export type StartWork = (deps: AppDeps, context: ProcessContext) => Work | Promise<Work>;

/** How long a shutdown may take after `SHUTDOWN_DELAY_MS`. Then the process exits anyway. */
const LONGEST_STOP_MS = 17 * SECOND;

/** Only `npm start` runs without the three: it starts its own services. */
function connected(config: ReturnType<typeof loadConfig>): ConnectedConfig {
  const { MONGODB_URI, REDIS_URL, SECRET_KEY } = config;
  if (MONGODB_URI && REDIS_URL && SECRET_KEY) return { ...config, MONGODB_URI, REDIS_URL, SECRET_KEY };
  const missing = Object.entries({ MONGODB_URI, REDIS_URL, SECRET_KEY }).filter(([, value]) => !value);
  throw new ConfigError(
    missing.map(
      ([name]) => `${name} is missing: a single process needs it; \`npm start\` runs everything without it`,
    ),
  );
}

/** Every account can then connect to them, not only the operator's servers. */
function warnOfPrivateRanges({ config, log }: AppDeps): void {
  const ranges = config.ALLOWED_PRIVATE_RANGES.map(([address, bits]) => `${address}/${bits}`);
  if (ranges.length === 0) return;
  log.warn(
    { event: 'config.private_ranges', ranges },
    'ALLOWED_PRIVATE_RANGES is open to the servers and listeners of every account',
  );
}

/** If the site has no operator: logs how to make the first one. Does not throw when MongoDB fails. */
export async function sayHowToBegin({ users, log }: AppDeps): Promise<void> {
  if (await hasOperator({ users }).catch(() => true)) return;
  log.info(
    { event: 'setup.no_operator' },
    'This site has no operator yet. To begin, run `tallyport setup-link` and open the link that it prints (with npm: npm run -s tallyport -- setup-link; in a container: node src/cli.ts setup-link)',
  );
}

/** @throws {ConfigError} naming METRICS_PORT or METRICS_HOST when it cannot listen there */
export async function serveProcessEndpoints(
  { config, log }: AppDeps,
  { metrics, readiness }: { metrics: Exposition; readiness: ProcessContext['readiness'] },
): Promise<Work & { address: string }> {
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

/**
 * Starts the work and serves the endpoints for health and metrics. The returned `close()` closes the work, the
 * endpoints and `deps`, in this order (design rule 12), and never throws.
 *
 * @throws the error of a part that does not start; the other parts and `deps` are closed then
 */
export async function startProcess(
  name: string,
  deps: AppDeps,
  start: StartWork,
  stopping: AbortSignal,
): Promise<Work> {
  const { log } = deps;
  const opened: Work[] = [deps];
  const closeAll = async () => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const metrics = createMetrics(deps);
    const readiness = watchReadiness(deps, stopping);
    opened.push(await serveProcessEndpoints(deps, { metrics, readiness }));
    const heartbeat = startHeartbeat(deps, name);
    opened.push(heartbeat);
    opened.push(await start(deps, { metrics, stopping, readiness }));
    void heartbeat.beat();
  } catch (error) {
    await closeAll().catch(() => undefined);
    throw error;
  }
  warnOfPrivateRanges(deps);
  void warnOfUnreadableSecrets(deps);
  void sayHowToBegin(deps);
  log.info({ event: 'process.started', processId: deps.processId }, `${name} runs`);
  return {
    async close() {
      log.info({ event: 'process.stopping' }, `${name} stops`);
      await closeAll().catch((error: unknown) =>
        log.error({ event: 'process.stop_failed', error: String(error) }),
      );
      log.info({ event: 'process.stopped' }, `${name} has stopped`);
    },
  };
}

/**
 * Runs until a stop signal or, if a parent process started it with an IPC channel, until the parent is gone. A second
 * signal ends it at once.
 */
export async function runProcess(name: string, start: StartWork, options: OpenOptions = {}): Promise<void> {
  const stopping = new AbortController();
  let deps: AppDeps | undefined;
  let running: Work | undefined;
  const end = async (work: Work) => {
    await work.close();
    process.exit(0);
  };
  const stop = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    const delayMs = deps?.config.SHUTDOWN_DELAY_MS ?? 0;
    setTimeout(() => process.exit(1), delayMs + LONGEST_STOP_MS).unref();
    if (running) void end(running);
    // If the process still waits for MongoDB, it has opened nothing that must be closed in order.
    else if (!deps) process.exit(0);
  };
  onStopSignal({ first: stop, second: () => process.exit(130) });
  endWithParent(stop);

  try {
    await awaitVariables();
    deps = await openAppDeps(connected(loadConfig()), name, options);
    running = await startProcess(name, deps, start, stopping.signal);
    if (stopping.signal.aborted) await end(running);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
