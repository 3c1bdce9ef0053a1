import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { missingUniqueIndexes } from '../database/indexes.ts';
import { migrateDatabase, refuseUnfinishedRestore } from '../database/migrate.ts';
import { findServices, type OpenServices } from '../own-services/open-services.ts';
import { SECOND } from '../platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import { createLogger } from '../platform/log.ts';
import { LONG_OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { readQueuePaused } from '../process/redis-queues.ts';
import { CommandError } from './failure.ts';
import { say, type Terminal } from './terminal.ts';

const REDIS_WAIT_MS = SECOND;

const LONGEST_CLOSE_MS = 5 * SECOND;

/** Printed when an import is interrupted or fails. */
export const RUN_AGAIN =
  'Interrupted: run the same command again to complete it. Until then, figures may not include everything that was imported.';

export type Session = AppDeps & { terminal: Terminal };

export type SessionNeeds = {
  /** `whole`: no restore is unfinished. `migrated`, the default: moreover, all unique indexes exist. */
  database?: 'migrated' | 'whole' | 'any';
  /** Database operations may take 30 seconds. */
  longRun?: boolean;
  /** Database operations have no time limit. Building an index of a large collection can take long. */
  unlimited?: boolean;
  /** Printed when the command is interrupted. */
  interrupted?: string;
};

/**
 * Opens the dependencies of one command and closes them afterwards. If the command needs a migrated database and this is
 * none: without `MONGODB_URI` it migrates the database, with `MONGODB_URI` it fails.
 *
 * @throws {CommandError} `not-migrated`; {CodedError} `restore-unfinished`
 */
export async function withSession<T>(
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
  needs: SessionNeeds = {},
): Promise<T> {
  const config = loadConfig(terminal.env);
  const isNew = !existsSync(config.DATA_DIR);
  const opening = findServices(config, (line) => say(terminal, line), terminal.env);
  closeWhenInterrupted(terminal, opening, needs.interrupted);
  const services = await opening;
  sayStarted(terminal, services, { dataDir: config.DATA_DIR, isNew });
  try {
    const hasOwnServices = config.MONGODB_URI === undefined;
    return await useDeps(services.config, terminal, work, { ...needs, hasOwnServices });
  } finally {
    await services.close();
  }
}

/** Prints nothing with `--json`, because some programs treat output on standard error as a failure. */
function sayStarted(
  terminal: Terminal,
  { started }: OpenServices,
  { dataDir, isNew }: { dataDir: string; isNew: boolean },
): void {
  if (started.length === 0 || terminal.json) return;
  const found = isNew
    ? `There was no data in ${dataDir}, so the database is empty`
    : `No platform is running with the data in ${dataDir}`;
  say(
    terminal,
    `${found}: ${started.join(' and ')} ${started.length === 1 ? 'was' : 'were'} started for this command. Set DATA_DIR if your platform stores its data elsewhere.`,
  );
}

function closeWhenInterrupted(terminal: Terminal, opening: Promise<OpenServices>, interrupted = ''): void {
  let services: OpenServices | undefined;
  const close = async () => {
    services = await opening;
    await services.close();
  };
  terminal.onInterrupt({
    async stop() {
      if (interrupted) say(terminal, interrupted);
      // The services may still be opening, or waiting for another command to end. So the wait for `close` has a limit.
      await within(LONGEST_CLOSE_MS, close()).catch(() => undefined);
    },
    kill: () => services?.kill(),
  });
}

async function useDeps<T>(
  config: ConnectedConfig,
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
  { database = 'migrated', longRun, unlimited, hasOwnServices }: SessionNeeds & { hasOwnServices: boolean },
): Promise<T> {
  // A command prints its own errors, so by default the log has only entries of level error.
  const quiet = config.LOG_LEVEL === 'info' || config.LOG_LEVEL === 'warn';
  const log = createLogger(quiet ? { LOG_LEVEL: 'error' } : config, 'cli', terminal.streams.stderr);
  const deps = await terminal.openDeps(config, 'cli', {
    log,
    mongoTimeoutMs: 0,
    durable: true,
    // No traces: a command must not wait for a trace collector.
    traced: false,
    ...(longRun ? { mongoOperationMs: LONG_OPERATION_TIMEOUT_MS } : {}),
    ...(unlimited ? { mongoOperationMs: 0 } : {}),
  });
  try {
    if (database !== 'any') await refuseUnfinishedRestore(deps.mongo);
    if (database === 'migrated') await requireMigrated(deps, { hasOwnServices });
    return await work({ ...deps, terminal });
  } finally {
    await deps.close();
  }
}

async function requireMigrated(
  { mongo }: AppDeps,
  { hasOwnServices }: { hasOwnServices: boolean },
): Promise<void> {
  if ((await missingUniqueIndexes(mongo.db)).length === 0) return;
  if (!hasOwnServices) {
    throw new CommandError('not-migrated', 'The database is not migrated. Run `tallyport migrate` first.');
  }
  await migrateDatabase(mongo);
}

/** Waits up to a second for Redis. Returns whether it answers: if not, the sweep finds the command's work later. */
export async function redisAnswers({ producerRedis }: AppDeps): Promise<boolean> {
  if (producerRedis.status !== 'ready') {
    await once(producerRedis, 'ready', { signal: AbortSignal.timeout(REDIS_WAIT_MS) }).catch(() => undefined);
  }
  return producerRedis.status === 'ready';
}

export const QUEUE_PAUSED =
  'A delivery queue is paused: votes may wait until it is resumed on the queue board (/operator/queues)';

/** Null if Redis does not answer in time. */
export async function queuePaused(deps: AppDeps): Promise<boolean | null> {
  return (await redisAnswers(deps)) ? readQueuePaused(deps) : null;
}
