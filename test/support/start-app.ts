import { ObjectId } from 'mongodb';
import { buildApp } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import type { ConnectedConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { readiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { NewServer } from '../../src/servers/server-settings.ts';
import { type Answer, ask, readDescription } from './api-description.ts';
import { migrateFresh } from './databases.ts';
import { openQuickDeps, testConfig, UNLIMITED } from './test-deps.ts';

/** A clock that a test can set and move. It keeps running. */
export type MovableClock = Clock & {
  /** Moves the clock by `ms` milliseconds. */
  move(ms: number): void;
  /** Stops the clock at `at`. */
  stop(at: Date): void;
};

export function movableClock(): MovableClock {
  let clock = systemClock();
  let offsetMs = 0;
  let stopped: Date | undefined;
  return {
    now: () => new Date((stopped ?? clock.now()).getTime()),
    move(ms) {
      if (stopped) stopped = new Date(stopped.getTime() + ms);
      offsetMs += ms;
      clock = systemClock(offsetMs);
    },
    stop(at) {
      stopped = at;
    },
  };
}

/** A listed server and a token for it. */
export type TestServer = { serverId: ObjectId; slug: string; tokenId: ObjectId; token: string };

export type TestDeps = {
  deps: AppDeps;
  clock: MovableClock;
  /** The environment of another process that works on the same database and queues. */
  env: Record<string, string>;
  /** The address of the application: `http://127.0.0.1:41234`. */
  url: string;
  addServer(settings?: Partial<NewServer>): Promise<TestServer>;
  /**
   * Calls an endpoint of `server`, such as `info`, and checks the answer against the OpenAPI document. With `url`, the
   * call goes to another process.
   */
  call(server: TestServer, endpoint: string, init?: RequestInit, url?: string): Promise<Answer>;
  /** Casts a vote. */
  vote(
    server: TestServer,
    username: unknown,
    headers?: Record<string, string>,
    url?: string,
  ): Promise<Answer>;
  /** Reports a status. */
  report(server: TestServer, body: unknown): Promise<Answer>;
  close(): Promise<void>;
};

/** The environment of a process that works on the same database and queues as one with `config`. */
function processEnvironment(config: ConnectedConfig): Record<string, string> {
  const { MONGODB_URI, REDIS_URL, QUEUE_PREFIX, SECRET_KEY } = config;
  return {
    ...ownEnvironment(),
    NODE_ENV: 'test',
    MONGODB_URI,
    REDIS_URL,
    QUEUE_PREFIX,
    SECRET_KEY,
    PORT: '0',
    METRICS_PORT: '0',
    SHUTDOWN_DELAY_MS: '0',
    ...UNLIMITED,
  };
}

/** Opens dependencies on a fresh, migrated database, and runs the whole application on a free port. */
export async function startApp(changes: Record<string, string> = {}): Promise<TestDeps> {
  const config = testConfig(changes);
  const clock = movableClock();
  const deps = { ...(await openQuickDeps(config)), clock };
  await migrateFresh(deps, config.MONGODB_URI);
  const stopping = new AbortController();
  const app = await buildApp(deps, {
    metrics: createMetrics(deps),
    readiness: () => readiness(deps),
    stopping: stopping.signal,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const description = await readDescription(`${url}${config.basePath}/openapi.json`);

  const call: TestDeps['call'] = async (server, endpoint, init = {}, at = url) => {
    const answer = await ask(`${at}${config.basePath}/api/v1/servers/${server.serverId}/${endpoint}`, {
      ...init,
      headers: { authorization: `Bearer ${server.token}`, ...(init.headers as Record<string, string>) },
    });
    description.check(init.method ?? 'GET', endpoint, answer);
    return answer;
  };
  const post = (
    server: TestServer,
    endpoint: string,
    body: unknown,
    headers: Record<string, string> = {},
    at = url,
  ) =>
    call(
      server,
      endpoint,
      {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      },
      at,
    );

  return {
    deps,
    clock,
    env: { ...processEnvironment(config), ...changes },
    url,
    async addServer(settings = {}) {
      const added = { name: 'Test server', address: 'play.example.org', port: 25_565, ...settings };
      const { serverId, slug } = await addServer(deps, added, 'test');
      const id = new ObjectId(serverId);
      const { tokenId, token } = await issueToken(deps, { serverId: id, name: 'test' });
      return { serverId: id, slug, tokenId: new ObjectId(tokenId), token };
    },
    call,
    vote: (server, username, headers, at) => post(server, 'vote', { username }, headers, at),
    report: (server, body) => post(server, 'status', body),
    async close() {
      stopping.abort();
      await app.close();
      await deps.close();
    },
  };
}
