import { once } from 'node:events';
import { findServices, type OpenServices } from '../embedded/services.ts';
import { SECOND } from '../platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import { createLogger } from '../platform/log.ts';
import { missingUniqueIndexes } from '../process/indexes.ts';
import { migrateDatabase } from '../process/migrate.ts';
import { openPlatform, type Platform } from '../process/platform.ts';
import { CommandError } from './failure.ts';
import { say, type Terminal } from './terminal.ts';

/** How long a command waits for Redis before it leaves the rest to the relay. */
const REDIS_WAIT_MS = SECOND;

/** One operation of a command that works on many documents. */
const LONG_OPERATION_MS = 30 * SECOND;

/** How long an interrupted command waits for services to open, to close them again. */
const LONGEST_CLOSE_MS = 5 * SECOND;

/** What is said of work that was cut short. */
export const RUN_AGAIN =
  'Stopped in the middle: run the same command again to finish. Until then, figures may miss what is in already.';

/** What a command works with: the open platform, and the terminal that it was typed at. */
export type Session = Platform & { terminal: Terminal };

/**
 * Opens the platform for one command and closes all of it afterwards. Embedded services are those of the
 * running `npm start`, or are started for this command alone; their database is migrated as `npm start` does.
 *
 * @throws what `loadConfig`, `findServices`, `openPlatform` and `work` throw; {CommandError} `not-migrated`
 */
export async function withSession<T>(
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
  { migrates = false, longRun = false, resumable = false } = {},
): Promise<T> {
  const config = loadConfig(terminal.env);
  const opening = findServices(config, (line) => say(terminal, line), terminal.env);
  closeWhenInterrupted(terminal, opening, resumable);
  const services = await opening;
  sayStarted(terminal, services, config.DATA_DIR);
  try {
    const embedded = config.MONGODB_URI === undefined;
    return await usePlatform(services.config, terminal, work, { migrates, longRun, embedded });
  } finally {
    await services.close();
  }
}

/** With `--json` it stays unsaid: a program reads the answer, and may read standard error as a failure. */
function sayStarted(terminal: Terminal, { started }: OpenServices, dataDir: string): void {
  if (started.length === 0 || terminal.json) return;
  say(
    terminal,
    `Nothing runs on ${dataDir}: ${started.join(' and ')} ${started.length === 1 ? 'was' : 'were'} started for this command; set DATA_DIR if your platform keeps its data elsewhere.`,
  );
}

/**
 * Closes the services that were started for this command when it is interrupted.
 *
 * @param resumable - what is half done then is completed by the same command
 */
function closeWhenInterrupted(terminal: Terminal, opening: Promise<OpenServices>, resumable: boolean): void {
  let services: OpenServices | undefined;
  const close = async () => {
    services = await opening;
    await services.close();
  };
  terminal.onInterrupt({
    async stop() {
      if (resumable) say(terminal, RUN_AGAIN);
      // They may still be opening, or wait for another command's end.
      await within(LONGEST_CLOSE_MS, close()).catch(() => undefined);
    },
    kill: () => services?.kill(),
  });
}

async function usePlatform<T>(
  config: ConnectedConfig,
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
  { migrates, longRun, embedded }: { migrates: boolean; longRun: boolean; embedded: boolean },
): Promise<T> {
  // A command says itself what went wrong. LOG_LEVEL=debug shows the rest, on standard error.
  const quiet = config.LOG_LEVEL === 'info' || config.LOG_LEVEL === 'warn';
  const log = createLogger(quiet ? { LOG_LEVEL: 'error' } : config, 'cli', terminal.streams.stderr);
  const platform = await openPlatform(config, 'cli', {
    log,
    mongoTimeoutMs: 0,
    durable: true,
    ...(longRun ? { mongoOperationMs: LONG_OPERATION_MS } : {}),
  });
  try {
    if (!migrates) await requireMigrated(platform, { embedded });
    return await work({ ...platform, terminal });
  } finally {
    await platform.close();
  }
}

async function requireMigrated({ mongo }: Platform, { embedded }: { embedded: boolean }): Promise<void> {
  if ((await missingUniqueIndexes(mongo.db)).length === 0) return;
  if (!embedded) {
    throw new CommandError(
      'not-migrated',
      'The database is not prepared yet: run `tallyport migrate` first.',
    );
  }
  await migrateDatabase(mongo);
}

/**
 * Waits a moment for Redis, so that what this command hastens starts at once.
 *
 * @returns whether Redis answers. Nothing is lost when it does not: the relay finds the work.
 */
export async function redisAnswers({ producerRedis }: Platform): Promise<boolean> {
  if (producerRedis.status !== 'ready') {
    await once(producerRedis, 'ready', { signal: AbortSignal.timeout(REDIS_WAIT_MS) }).catch(() => undefined);
  }
  return producerRedis.status === 'ready';
}
