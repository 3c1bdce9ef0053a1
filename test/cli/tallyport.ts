import { Readable, Writable } from 'node:stream';
import { ObjectId } from 'mongodb';
import { type OnStopSignal, runCli } from '../../src/cli/run-cli.ts';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { castVote } from '../support/casting.ts';
import { migrateFresh } from '../support/databases.ts';
import { QUICK } from '../support/delivering.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { onPooledMongo, testConfig } from '../support/test-deps.ts';
import { type CliResult, readable } from './tallyport-process.ts';

/** A stream that collects its output. */
function memory(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

type RunOptions = {
  env: Variables;
  /** The content of standard input. */
  input?: string;
  /** Standard input is a terminal at which a user types. */
  isTTY?: boolean;
  onStopSignal?: OnStopSignal;
};

/** Runs `tallyport` with `args` in this process. */
export async function tallyport(
  args: string[],
  { env, input = '', isTTY = false, onStopSignal }: RunOptions,
): Promise<CliResult> {
  const [stdout, stderr] = [memory(), memory()];
  const stdin = Object.assign(Readable.from([Buffer.from(input)]), { isTTY });
  const streams = { stdin, stdout: stdout.stream, stderr: stderr.stream };
  const open: typeof openAppDeps = async (config, name, options) =>
    openAppDeps(config, name, { ...options, ...(await onPooledMongo(config, options)) });
  const code = await runCli(args, env, streams, onStopSignal, {}, open);
  return readable({ code, stdout: stdout.text(), stderr: stderr.text() });
}

/** A platform, and a way to run commands on its database. */
export type Cli = {
  deps: AppDeps;
  env: Variables;
  /** Runs a command: the words of `line`, then the unsplit arguments `more`. */
  run(line: string, ...more: string[]): Promise<CliResult>;
  /** Lists a server with `server add` and returns its slug and id. */
  addServer(name: string): Promise<{ server_id: string; slug: string }>;
  /** Casts a vote as the API does, by default now, and returns its id. */
  cast(serverId: string, username: string, votedAt?: Date): Promise<string>;
  close(): Promise<void>;
};

/** The retry of a failed vote comes so late that a command can read the failed vote, even on a slow machine. */
const SETTINGS = { ...QUICK, DELIVERY_SCHEDULE: '0s,1h' };

/**
 * Opens the dependencies and a command line on a fresh, migrated database.
 *
 * @param settings - such as the `MONGODB_URI` of another mongod
 */
export async function openCli(settings: Record<string, string> = {}): Promise<Cli> {
  const config = testConfig({ ...SETTINGS, ...settings });
  const deps = await openAppDeps(config, 'test', await onPooledMongo(config));
  await migrateFresh(deps, config.MONGODB_URI);
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
  const run: Cli['run'] = (line, ...more) => tallyport([...line.split(' '), ...more], { env });
  return {
    deps,
    env,
    run,
    async addServer(name) {
      const added = await run('server add --address play.example.org --port 25565 --json --name', name);
      return added.json as { server_id: string; slug: string };
    },
    async cast(serverId, username, votedAt) {
      const request = { serverId: new ObjectId(serverId), username, tokenId: new ObjectId() };
      const clock = votedAt ? stoppedClock(votedAt) : deps.clock;
      const end = await castVote({ ...deps, clock }, request);
      if (end.kind !== 'accepted') throw new Error(`${username} was refused`);
      // Write the counts now: in production, a command is another process and sees only stored counts.
      await deps.voteCounts.flush();
      return end.vote._id.toString();
    },
    close: () => deps.close(),
  };
}
