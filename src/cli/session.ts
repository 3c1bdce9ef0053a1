import { once } from 'node:events';
import { onStopSignal } from '../all-in-one/stop-signals.ts';
import { SECOND } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { findServices } from '../embedded/services.ts';
import { createLogger } from '../log.ts';
import { migrateDatabase, missingUniqueIndexes } from '../migrate.ts';
import { openPlatform, type Platform } from '../platform.ts';
import { CommandError } from './failure.ts';

/** How long a command waits for Redis before it leaves the rest to the relay. */
const REDIS_PATIENCE_MS = SECOND;

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
  { migrates = false } = {},
): Promise<T> {
  const config = loadConfig();
  const services = await findServices(config, say);
  const leave = () => process.exit(130);
  onStopSignal({
    first: () => void services.close().finally(leave),
    second: () => {
      services.kill();
      leave();
    },
  });
  try {
    // A command says itself what went wrong. LOG_LEVEL=debug shows the rest, on standard error.
    const quiet = config.LOG_LEVEL === 'info' || config.LOG_LEVEL === 'warn';
    const log = createLogger(quiet ? { LOG_LEVEL: 'error' } : config, 'cli', 2);
    const platform = await openPlatform(services.config, 'cli', { log, mongoPatienceMs: 0 });
    try {
      if (!migrates) await requireMigrated(platform, { embedded: config.MONGODB_URI === undefined });
      return await work(platform);
    } finally {
      await platform.close();
    }
  } finally {
    await services.close();
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
