/** The web process: the API, its description and all pages, on `HOST:PORT`. */
import { setTimeout as pause } from 'node:timers/promises';
import { buildApp } from './app.ts';
import { closeApp } from './http/requests.ts';
import type { Config } from './platform/config.ts';
import { ConfigError } from './platform/environment.ts';
import type { AppDeps } from './process/app-deps.ts';
import { type ProcessContext, runProcess, type Work } from './process/process.ts';
import { readPushKey } from './reminders/read-push-key.ts';

async function startWeb(deps: AppDeps, context: ProcessContext): Promise<Work> {
  warnOfUnusedVariables(deps);
  sayPath(deps);
  void makePushKey(deps);
  const closing = new AbortController();
  const app = await buildApp(deps, { ...context, closing: closing.signal });
  try {
    const { HOST: host, PORT: port } = deps.config;
    const address = await app.listen({ host, port, listenTextResolver: (text) => `web: ${text}` });
    deps.log.info({ event: 'web.listening', address, publicUrl: deps.config.PUBLIC_URL });
  } catch (error) {
    await app.close();
    throw listenError(error, deps.config);
  }
  return {
    async close() {
      // Meanwhile /readyz fails, so load balancers send requests elsewhere.
      await pause(deps.config.SHUTDOWN_DELAY_MS);
      closing.abort();
      await closeApp(app);
    },
  };
}

/** The most frequent mistake: a proxy strips the path, and all pages are 404. */
function sayPath({ config: { basePath }, log }: AppDeps): void {
  if (!basePath) return;
  log.info(
    { event: 'web.path', path: basePath },
    `PUBLIC_URL has the path ${basePath}: a proxy in front must pass it on, not strip it`,
  );
}

/** If MongoDB does not answer, or is not migrated: the first page that needs the key makes it. */
async function makePushKey(deps: AppDeps): Promise<void> {
  if (!deps.config.PUBLIC_URL.startsWith('https:')) return;
  await readPushKey(deps).catch((error: unknown) =>
    deps.log.debug({ event: 'push_key.not_read', reason: String(error) }),
  );
}

function warnOfUnusedVariables({ config, log }: AppDeps): void {
  if (config.OPERATOR_PASSWORD_HASH === undefined) return;
  log.warn(
    { event: 'config.unused', name: 'OPERATOR_PASSWORD_HASH' },
    'OPERATOR_PASSWORD_HASH is not used any more: make an operator with `tallyport operator create --email ADDRESS`, then remove it',
  );
}

function listenError(error: unknown, { HOST: host, PORT: port }: Config): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new ConfigError([`PORT ${port} is taken on ${host} by another process: choose another`]);
  }
  if (code === 'EACCES') return new ConfigError([`PORT ${port}: this user is not allowed to open it`]);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ConfigError([`HOST ${host} is not an address of this machine`]);
  }
  return error;
}

await runProcess('web', startWeb);
