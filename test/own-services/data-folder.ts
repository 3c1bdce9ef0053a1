import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { type Config, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';

type Service = { pid: number; startedAt: string; port: number };

/** A DATA_DIR of one test, removed after it. */
export type DataFolder = {
  dir: string;
  /** An environment with this folder and the mongod that all tests use. */
  env: Variables;
  /** A configuration with this folder. */
  config(changes?: Record<string, string>): Config;
  /** Its services.json; rejects when there is none. */
  record(): Promise<{ owner: Service; mongod: Service; redis: Service }>;
};

export async function freshDataFolder(): Promise<DataFolder> {
  const dir = await mkdtemp(join(tmpdir(), 'tallyport-data-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return {
    dir,
    env: { ...ownEnvironment(), MONGOMS_SYSTEM_BINARY: inject('mongodBinary').path, DATA_DIR: dir },
    config: (changes = {}) => loadConfig({ NODE_ENV: 'test', DATA_DIR: dir, ...changes }),
    record: async () => JSON.parse(await readFile(join(dir, 'services.json'), 'utf8')),
  };
}
