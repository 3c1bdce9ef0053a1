import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { migrate } from '../../src/database/migrate.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { isReady } from '../../test/support/load-balancer.ts';

const ENTRY = fileURLToPath(new URL('../../src/web.ts', import.meta.url));

/** A real web process, which listens on the same port after a restart. */
export type Web = {
  url: string;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** Sends SIGTERM and waits until it exits, which must be with code 0. */
  stop(): Promise<void>;
};

/** A server's id and a token for its API. */
export type Caller = { serverId: string; token: string };

/** Prepares an environment for processes on these services: a migrated database, and a listed server with a token. */
export async function prepare(
  mongodbUri: string,
  redisUrl: string,
  more: Record<string, string> = {},
): Promise<{ env: Variables; caller: Caller }> {
  const env = {
    ...ownEnvironment(),
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    MONGODB_URI: mongodbUri,
    REDIS_URL: redisUrl,
    SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
    METRICS_PORT: '0',
    ...more,
  };
  const config = loadConfig(env) as ConnectedConfig;
  await migrate(config, createLogger({ LOG_LEVEL: 'error' }, 'bench'));
  const deps = await openAppDeps(config, 'bench');
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565 };
  const { serverId } = await addServer(deps, settings, 'bench');
  const { token } = await issueToken(deps, { serverId: new ObjectId(serverId), name: 'bench' });
  await deps.close();
  return { env, caller: { serverId, token } };
}

export async function openWeb(env: Variables): Promise<Web> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  process.once('exit', () => child?.kill('SIGKILL'));
  return {
    url,
    async start() {
      child = spawn(process.execPath, [ENTRY], {
        env: { ...env, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      while (!(await isReady(url))) await pause(50);
    },
    async stop() {
      if (!child) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await ended;
      child = undefined;
      if (code !== 0) throw new Error(`the web process ended with ${code}`);
    },
  };
}
