import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { ownEnvironment } from '../../src/config.ts';
import { migrateDatabase } from '../../src/migrate.ts';
import { openPlatform, type Platform } from '../../src/platform.ts';
import { castVote } from '../../src/votes/cast-vote.ts';
import { QUICK } from '../support/delivering.ts';
import { testConfig } from '../support/test-platform.ts';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** How a command ended. */
export type Ended = {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output read as one JSON value. Throws when it is none. */
  readonly json: Record<string, unknown>;
};

/** Runs `tallyport` with `args` as a process of its own. */
export async function tallyport(
  args: string[],
  { env, input = '' }: { env: Record<string, string | undefined>; input?: string },
): Promise<Ended> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined).end(input);
  const { promise: exited, resolve } = Promise.withResolvers<number | null>();
  child.on('exit', resolve);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout) as Record<string, unknown>;
    },
  };
}

/** A platform and the command that works on the same database. */
export type Terminal = {
  platform: Platform;
  env: Record<string, string | undefined>;
  /** Runs a command: the words of `line`, then `more` as they stand. */
  run(line: string, ...more: string[]): Promise<Ended>;
  /** Lists a server with `server add` and gives its slug and id. */
  addServer(name: string): Promise<{ server_id: string; slug: string }>;
  /** Casts a vote as the API does and gives its id. */
  cast(serverId: string, username: string): Promise<string>;
  close(): Promise<void>;
};

/** A vote that failed waits long enough for a command to look at it, however slow the machine is. */
const SETTINGS = { ...QUICK, DELIVERY_SCHEDULE: '0s,1h' };

/** Opens both on a fresh, migrated database. */
export async function openTerminal(): Promise<Terminal> {
  const config = testConfig(SETTINGS);
  const platform = await openPlatform(config, 'test');
  await migrateDatabase(platform.mongo.db);
  const { MONGODB_URI, REDIS_URL, QUEUE_PREFIX, SECRET_KEY } = config;
  const env = {
    ...ownEnvironment(),
    ...SETTINGS,
    NODE_ENV: 'test',
    MONGODB_URI,
    REDIS_URL,
    QUEUE_PREFIX,
    SECRET_KEY,
  };
  const run: Terminal['run'] = (line, ...more) => tallyport([...line.split(' '), ...more], { env });
  return {
    platform,
    env,
    run,
    async addServer(name) {
      const added = await run('server add --address play.example.org --port 25565 --json --name', name);
      return added.json as { server_id: string; slug: string };
    },
    async cast(serverId, username) {
      const request = { serverId: new ObjectId(serverId), username, tokenId: new ObjectId() };
      const end = await castVote(platform, request);
      if (end.kind !== 'accepted') throw new Error(`${username} was refused`);
      return end.vote._id.toString();
    },
    close: () => platform.close(),
  };
}
