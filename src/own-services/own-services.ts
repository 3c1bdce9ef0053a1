import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import type { Variables } from '../platform/environment.ts';
import { type Binary, seriesOf } from './binary.ts';
import { noteWriter, writtenData } from './data-folder.ts';
import { findMongod } from './find-mongod.ts';
import { findRedis } from './find-redis.ts';
import { keepRunning, type Running } from './keep-running.ts';
import { databaseAddress, MONGOD } from './mongod.ts';
import { identityOf } from './process-identity.ts';
import { REDIS } from './redis-server.ts';
import type { Say } from './service-error.ts';
import { type ServiceKind, startService } from './service-process.ts';
import { removeRecord, type ServicesRecord, writeRecord } from './services-record.ts';
import { settingsToShare } from './shared-settings.ts';

/** What the services are started for: `platform` (`npm start`) or one `command`. */
export type OwnerKind = ServicesRecord['owner']['kind'];

/** Services that this process started and must stop. */
type OwnServices = {
  mongodbUri: string;
  redisUrl: string;
  description: string[];
  /** The titles of the started services. */
  started: string[];
  close(): Promise<void>;
  kill(): void;
};

/**
 * Starts a mongod and a Redis in `dataDir`, writes them to the folder's record (services-record.ts) and keeps them
 * running. A service whose address is configured is not started. The caller must own the lock of the folder.
 *
 * @throws {ServiceError} when a program is missing or does not start; services that this call started are stopped then.
 */
export async function startOwnServices(
  config: Config,
  dataDir: string,
  kind: OwnerKind,
  say: Say,
  env: Variables,
): Promise<OwnServices> {
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
    await noteWriter(dir, seriesOf(binary));
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
    return {
      mongodbUri: typeof mongod === 'string' ? mongod : databaseAddress(await keep('mongod', MONGOD, mongod)),
      redisUrl: typeof redis === 'string' ? redis : REDIS.address(await keep('redis', REDIS, redis)),
      description,
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
