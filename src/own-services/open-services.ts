import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE } from '../platform/clock.ts';
import type { Config, ConnectedConfig } from '../platform/config.ts';
import { ownEnvironment, type Variables } from '../platform/environment.ts';
import { withDataLock } from './data-lock.ts';
import { databaseAddress } from './mongod.ts';
import { type OwnerKind, startOwnServices } from './own-services.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { REDIS } from './redis-server.ts';
import { storedSecretKey } from './secret-key.ts';
import { type Say, ServiceError } from './service-error.ts';
import { endLeftOvers, readRecord, type ServicesRecord } from './services-record.ts';
import { withSharedSettings } from './shared-settings.ts';

/** How long a start waits for a running command that uses the same data. */
const COMMAND_WAIT_MS = 5 * MINUTE;

/** The services that Tallyport's processes use. `config` has their addresses. */
export type OpenServices = {
  config: ConnectedConfig;
  /** Lines for users: which services these are, and where they come from. */
  description: string[];
  /** The titles of the services that this call started, such as `MongoDB`. */
  started: string[];
  /** Stops the services that this call started, Redis first. They write their data. May be called twice. */
  close(): Promise<void>;
  /** Kills the services that this call started, without waiting for them to write. */
  kill(): void;
};

/**
 * The services of the platform (`npm start`): those of MONGODB_URI and REDIS_URL if these are set, otherwise our own
 * ones with their data in DATA_DIR. If an earlier start was killed and its services still run, they are stopped first.
 * If SECRET_KEY is not set, the key that is stored in DATA_DIR is used; the first start makes it.
 *
 * @throws {ServiceError} when something is missing or does not start, when a platform already uses this DATA_DIR, or
 *   when a command still uses it after 5 minutes. Services that this call started are stopped then.
 */
export async function openServices(
  config: Config,
  say: Say,
  env: Variables = ownEnvironment(),
): Promise<OpenServices> {
  return await open(config, 'platform', say, env);
}

/**
 * The services for one command. If a platform runs on this DATA_DIR: its services are used and not stopped, and shared
 * settings that `env` lacks are taken from the platform. Otherwise it does what `openServices` does.
 *
 * @throws {ServiceError} as `openServices`; {ConfigError} when the platform's settings and `env` are not valid
 *   together.
 */
export async function findServices(
  config: Config,
  say: Say,
  env: Variables = ownEnvironment(),
): Promise<OpenServices> {
  return await open(config, 'command', say, env);
}

async function open(config: Config, kind: OwnerKind, say: Say, env: Variables): Promise<OpenServices> {
  const { MONGODB_URI, REDIS_URL, SECRET_KEY } = config;
  if (MONGODB_URI && REDIS_URL && SECRET_KEY) {
    return borrowed({ ...config, MONGODB_URI, REDIS_URL, SECRET_KEY }, configuredLines(config));
  }
  const dataDir = resolve(config.DATA_DIR);
  const deadline = Date.now() + COMMAND_WAIT_MS;
  for (;;) {
    const found = await withDataLock(dataDir, say, () => look(config, dataDir, kind, say, env));
    if (!('busy' in found)) return found;
    say(`A tallyport command (process ${found.busy.pid}) is using the data: waiting until it exits …`);
    while (await isAlive(found.busy)) {
      if (Date.now() > deadline) {
        throw new ServiceError(
          `The tallyport command (process ${found.busy.pid}) is still using ${dataDir}: stop it first.`,
        );
      }
      await pause(100);
    }
  }
}

/**
 * Finds or starts the services. The caller must own the folder's lock. If a command runs that started its own services:
 * returns that command as `busy`.
 */
async function look(
  config: Config,
  dataDir: string,
  kind: OwnerKind,
  say: Say,
  env: Variables,
): Promise<OpenServices | { busy: ProcessIdentity }> {
  const SECRET_KEY = config.SECRET_KEY ?? (await storedSecretKey(dataDir));
  const { MONGODB_URI, REDIS_URL } = config;
  if (MONGODB_URI && REDIS_URL) {
    return borrowed({ ...config, MONGODB_URI, REDIS_URL, SECRET_KEY }, configuredLines(config));
  }
  const record = await readRecord(dataDir);
  if (record && (await isAlive(record.owner))) {
    if (record.owner.kind === 'command') return { busy: record.owner };
    if (kind === 'platform') throw alreadyRunning(record, dataDir);
    const addresses = {
      MONGODB_URI: MONGODB_URI ?? databaseAddress(await portOf(record, 'mongod', 'MONGODB_URI')),
      REDIS_URL: REDIS_URL ?? REDIS.address(await portOf(record, 'redis', 'REDIS_URL')),
    };
    const shared = record.settings ? withSharedSettings(config, env, record.settings) : config;
    return borrowed({ ...shared, ...addresses, SECRET_KEY }, [
      `MongoDB and Redis of the running platform (process ${record.owner.pid})`,
    ]);
  }
  if (record) await endLeftOvers(dataDir, record, say);
  const own = await startOwnServices(config, dataDir, kind, say, env);
  return {
    config: { ...config, MONGODB_URI: own.mongodbUri, REDIS_URL: own.redisUrl, SECRET_KEY },
    description: [...own.description, ...configuredLines(config)],
    started: own.started,
    close: own.close,
    kill: own.kill,
  };
}

/** Services that this process does not stop: another process started them, or their addresses are configured. */
function borrowed(config: ConnectedConfig, description: string[]): OpenServices {
  return { config, description, started: [], close: async () => undefined, kill: () => undefined };
}

/** One line for each configured service. The addresses are not printed, because they may contain passwords. */
function configuredLines(config: Config): string[] {
  return [
    ...(config.MONGODB_URI ? ['MongoDB: the one of MONGODB_URI'] : []),
    ...(config.REDIS_URL ? ['Redis: the one of REDIS_URL'] : []),
  ];
}

function alreadyRunning({ owner }: ServicesRecord, dataDir: string): ServiceError {
  return new ServiceError(
    `Tallyport is already running on ${dataDir}: process ${owner.pid}, at ${owner.address}. End that one first, or set DATA_DIR and PORT to run a second one.`,
  );
}

async function portOf(record: ServicesRecord, name: 'mongod' | 'redis', variable: string): Promise<number> {
  const service = record[name];
  if (!service) {
    throw new ServiceError(
      `The running Tallyport (process ${record.owner.pid}) uses its own ${variable}: set the same one for this command.`,
    );
  }
  if (!(await isAlive(service))) {
    throw new ServiceError(
      `${name} of the running Tallyport (process ${record.owner.pid}) has exited and will be restarted: try again in a moment.`,
    );
  }
  return service.port;
}
