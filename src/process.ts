import { onStopSignal } from './all-in-one/stop-signals.ts';
import { SECOND } from './clock.ts';
import { ConfigError, type ConnectedConfig, loadConfig } from './config.ts';
import { endWithParent } from './embedded/end-with-parent.ts';
import { watchReadiness } from './health.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openPlatform, type Platform } from './platform.ts';
import { serveProcessEndpoints } from './process-endpoints.ts';
import type { OpenOptions } from './resources.ts';

/** What a process needs besides the platform. */
export type ProcessContext = {
  metrics: Metrics;
  /** Aborted when the process begins to stop. */
  stopping: AbortSignal;
  /** The answer of `/readyz`. */
  readiness: ReturnType<typeof watchReadiness>;
};

/** The work of a process, running. */
export type Work = {
  /** Ends it; what it holds open besides the platform is closed afterwards. */
  close(): Promise<void>;
};

/** Stopping takes no longer, whatever hangs: Compose and systemd give 20 s. */
const LONGEST_STOP_MS = 17 * SECOND;

/** The services that a process cannot run without; `npm start` finds them in embedded form. */
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

/**
 * Runs one process of the platform from its start to its end: configuration, resources, health and metrics, the
 * work itself, and the stop (design rule 12). A second signal ends it at once.
 *
 * @param name - in its log lines: `web`, `worker`, `scheduler`
 */
export async function runProcess(
  name: string,
  start: (platform: Platform, context: ProcessContext) => Promise<Work>,
  options: OpenOptions = {},
): Promise<void> {
  const stopping = new AbortController();
  const opened: { close(): Promise<unknown> }[] = [];
  let closing: (() => Promise<void>) | undefined;
  const stop = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref();
    if (closing) void closing();
    // It waits for MongoDB, and holds nothing yet that must be closed in order.
    else if (opened.length === 0) process.exit(0);
  };
  onStopSignal({ first: stop, second: () => process.exit(130) });
  endWithParent(stop);

  const closeAll = async () => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const config = connected(loadConfig());
    const platform = await openPlatform(config, name, options);
    opened.push(platform);
    const metrics = createMetrics(platform);
    const readiness = watchReadiness(platform, stopping.signal);
    opened.push(await serveProcessEndpoints(platform, { metrics, readiness }));
    opened.push(await start(platform, { metrics, stopping: stopping.signal, readiness }));
    platform.log.info({ event: 'process.started' }, `${name} runs`);
    closing = async () => {
      platform.log.info({ event: 'process.stopping' }, `${name} stops`);
      await closeAll().catch((error: unknown) =>
        platform.log.error({ event: 'process.stop_failed', error: String(error) }),
      );
      platform.log.info({ event: 'process.stopped' }, `${name} has stopped`);
      process.exit(0);
    };
    if (stopping.signal.aborted) await closing();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await closeAll().catch(() => undefined);
    process.exit(1);
  }
}
