import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE } from '../platform/clock.ts';
import type { Config, ConnectedConfig } from '../platform/config.ts';
import { ownEnvironment, type Variables } from '../platform/environment.ts';
import { type Binary, seriesOf, type WrittenData } from './binary.ts';
import { withDataLock } from './data-lock.ts';
import { findMongod } from './find-mongod.ts';
import { findRedis } from './find-redis.ts';
import { keepRunning, type Running } from './keep-running.ts';
import { databaseAddress, MONGOD } from './mongod.ts';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';
import { REDIS } from './redis-server.ts';
import { storedSecretKey } from './secret-key.ts';
import { type Say, ServiceError } from './service-error.ts';
import { type ServiceKind, startService } from './service-process.ts';
import {
  endLeftOvers,
  readRecord,
  removeRecord,
  type ServicesRecord,
  writeRecord,
} from './services-record.ts';
import { settingsToShare, withSharedSettings } from './shared-settings.ts';

const COMMAND_WAIT_MS = 5 * MINUTE;

/** The services that Tallyport's processes use. `config` has their addresses. */
export type OpenServices = {
  config: ConnectedConfig;
  description: string[];
  started: string[];
  /** Stops the services that this call started, and waits until their data is written. May be called twice. */
  close(): Promise<void>;
  kill(): void;
};

/**
 * The services of the platform (`npm start`): those of MONGODB_URI and REDIS_URL if these are set, otherwise our own
 * ones in DATA_DIR. Those of a start that was killed are stopped first. Without SECRET_KEY, the key in DATA_DIR is used;
 * the first start makes it.
 *
 * @throws {ServiceError} when something is missing or does not start, when a platform already uses this DATA_DIR, or
 *   when a command still uses it after 5 minutes
 */
export async function openServices(
  config: Config,
  say: Say,
  env: Variables = ownEnvironment(),
): Promise<OpenServices> {
  return await open(config, { kind: 'platform', say, env });
}

/**
 * The services for one command. If a platform runs on this DATA_DIR: its services are used and not stopped, and shared
 * settings that `env` lacks are taken from the platform. Otherwise it does what `openServices` does.
 *
 * @throws {ServiceError} as `openServices`; {ConfigError} when the platform's settings and `env` do not fit together
 */
export async function findServices(
  config: Config,
  say: Say,
  env: Variables = ownEnvironment(),
): Promise<OpenServices> {
  return await open(config, { kind: 'command', say, env });
}

type For = { kind: ServicesRecord['owner']['kind']; say: Say; env: Variables };

async function open(config: Config, given: For): Promise<OpenServices> {
  const { say } = given;
  const { MONGODB_URI, REDIS_URL, SECRET_KEY } = config;
  if (MONGODB_URI && REDIS_URL && SECRET_KEY) {
    return borrowed({ ...config, MONGODB_URI, REDIS_URL, SECRET_KEY }, configuredLines(config));
  }
  const dataDir = resolve(config.DATA_DIR);
  const deadline = Date.now() + COMMAND_WAIT_MS;
  for (;;) {
    const found = await withDataLock(dataDir, say, () => look(config, dataDir, given));
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

/** The caller must own the folder's lock. `busy`: a command that started services of its own still runs. */
async function look(
  config: Config,
  dataDir: string,
  { kind, say, env }: For,
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
  return await startOwnServices(config, SECRET_KEY, dataDir, { kind, say, env });
}

/**
 * Starts a mongod and a Redis in `dataDir`, writes them to the folder's record and keeps them running. A service whose
 * address is configured is not started. If it throws, the services that it started are stopped.
 */
async function startOwnServices(
  config: Config,
  SECRET_KEY: string,
  dataDir: string,
  { kind, say, env }: For,
): Promise<OpenServices> {
  const record: ServicesRecord = {
    owner: { ...(await identityOf(process.pid)), kind, address: config.PUBLIC_URL },
    settings: settingsToShare(config, env),
  };
  const folders = { mongod: join(dataDir, 'mongodb'), redis: join(dataDir, 'redis') };
  // Both programs are found before one of them is started, so that a missing program is reported early.
  const mongod = config.MONGODB_URI ?? (await findMongod(env, say, await writtenData(folders.mongod)));
  const redis = config.REDIS_URL ?? (await findRedis(env, say, await writtenData(folders.redis)));

  const description: string[] = [];
  const started: string[] = [];
  const running: Omit<Running, 'ended'>[] = [];
  const keep = async (name: 'mongod' | 'redis', service: ServiceKind, binary: Binary): Promise<number> => {
    const dir = folders[name];
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(join(dir, 'version'), `${seriesOf(binary)}\n`);
    const onSpawn = async (pid: number, port: number) => {
      record[name] = { ...(await identityOf(pid)), program: binary.program, version: binary.version, port };
      await writeRecord(dataDir, record);
    };
    const first = await startService(service, { binary, dir, onSpawn });
    const { port } = first;
    started.push(service.title);
    running.push(
      keepRunning(service.title, first, () => startService(service, { binary, dir, port, onSpawn }), say),
    );
    description.push(
      `${service.title}: ${binary.program} ${binary.version} ${binary.source}, port ${port}, data in ${dir}`,
    );
    return port;
  };
  const close = async () => {
    for (const service of running.toReversed()) await service.stop();
    await removeRecord(dataDir);
  };

  try {
    const addresses = {
      MONGODB_URI:
        typeof mongod === 'string' ? mongod : databaseAddress(await keep('mongod', MONGOD, mongod)),
      REDIS_URL: typeof redis === 'string' ? redis : REDIS.address(await keep('redis', REDIS, redis)),
    };
    return {
      config: { ...config, ...addresses, SECRET_KEY },
      description: [...description, ...configuredLines(config)],
      started,
      close,
      kill() {
        for (const service of running) service.kill();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writtenData(dir: string): Promise<WrittenData | undefined> {
  const series = await readFile(join(dir, 'version'), 'utf8').catch(() => undefined);
  return series ? { dir, series: series.trim() } : undefined;
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
