import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { onStopSignal } from '../all-in-one/stop-signals.ts';
import { SECOND } from '../clock.ts';
import { type ConnectedConfig, loadConfig } from '../config.ts';
import { findServices, type OpenServices } from '../embedded/services.ts';
import { createLogger } from '../log.ts';
import { migrateDatabase, missingUniqueIndexes } from '../migrate.ts';
import { openPlatform, type Platform } from '../platform.ts';
import { CommandError } from './failure.ts';

/** How long a command waits for Redis before it leaves the rest to the relay. */
const REDIS_PATIENCE_MS = SECOND;

/** One operation of a command that works on many documents. */
const LONG_OPERATION_MS = 30 * SECOND;

/** How long an interrupted command waits for services to open, to close them again. */
const LEAVE_PATIENCE_MS = 5 * SECOND;

/** What is said of work that was cut short. */
export const RUN_AGAIN =
  'Stopped in the middle: run the same command again to finish. Until then, figures may miss what is in already.';

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Opens the platform for one command and closes all of it afterwards. Embedded services are those of the
 * running `npm start`, or are started for this command alone; their database is migrated as `npm start` does.
 *
 * @throws what `loadConfig`, `findServices`, `openPlatform` and `work` throw; {CommandError} `not-migrated`
 */
export async function withPlatform<T>(
  work: (platform: Platform) => Promise<T>,
  { migrates = false, longRun = false, resumable = false } = {},
): Promise<T> {
  const config = loadConfig();
  const opening = findServices(config, say);
  const interrupted = endInOrder(opening, resumable);
  try {
    const services = await opening;
    sayStarted(services, config.DATA_DIR);
    try {
      return await usePlatform(services.config, work, {
        migrates,
        longRun,
        embedded: config.MONGODB_URI === undefined,
      });
    } finally {
      await services.close();
    }
  } catch (error) {
    // What fails after Ctrl-C fails because of it.
    await interrupted();
    throw error;
  }
}

/** With `--json` it stays unsaid: a program reads the answer, and may read standard error as a failure. */
function sayStarted({ started }: OpenServices, dataDir: string): void {
  if (started.length === 0 || process.argv.includes('--json')) return;
  say(
    `Nothing runs on ${dataDir}: ${started.join(' and ')} ${started.length === 1 ? 'was' : 'were'} started for this command; set DATA_DIR if your platform keeps its data elsewhere.`,
  );
}

/**
 * Ends the process in order when it is told to end: services that were started for it are closed.
 *
 * @param resumable - what is half done then is completed by the same command
 * @returns a function that waits for the end of the process where it was told so, and else does nothing
 */
function endInOrder(opening: Promise<OpenServices>, resumable: boolean): () => Promise<void> {
  let services: OpenServices | undefined;
  let leaving: Promise<void> | undefined;
  const closed = async () => {
    services = await opening;
    await services.close();
  };
  const leave = async () => {
    // They may still be opening, or wait for another command's end.
    await Promise.race([closed().catch(() => undefined), pause(LEAVE_PATIENCE_MS)]);
    process.exit(130);
  };
  onStopSignal({
    first() {
      if (resumable) say(RUN_AGAIN);
      leaving = leave();
    },
    second() {
      services?.kill();
      process.exit(130);
    },
  });
  return () => leaving ?? Promise.resolve();
}

async function usePlatform<T>(
  config: ConnectedConfig,
  work: (platform: Platform) => Promise<T>,
  { migrates, longRun, embedded }: { migrates: boolean; longRun: boolean; embedded: boolean },
): Promise<T> {
  // A command says itself what went wrong. LOG_LEVEL=debug shows the rest, on standard error.
  const quiet = config.LOG_LEVEL === 'info' || config.LOG_LEVEL === 'warn';
  const log = createLogger(quiet ? { LOG_LEVEL: 'error' } : config, 'cli', 2);
  const platform = await openPlatform(config, 'cli', {
    log,
    mongoPatienceMs: 0,
    durable: true,
    ...(longRun ? { mongoOperationMs: LONG_OPERATION_MS } : {}),
  });
  try {
    if (!migrates) await requireMigrated(platform, { embedded });
    return await work(platform);
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
  await migrateDatabase(mongo.db);
}

/**
 * Waits a moment for Redis, so that what this command hastens starts at once.
 *
 * @returns whether Redis answers. Nothing is lost when it does not: the relay finds the work.
 */
export async function redisAnswers({ producerRedis }: Platform): Promise<boolean> {
  if (producerRedis.status !== 'ready') {
    await once(producerRedis, 'ready', { signal: AbortSignal.timeout(REDIS_PATIENCE_MS) }).catch(
      () => undefined,
    );
  }
  return producerRedis.status === 'ready';
}
