import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { SECOND } from '../platform/clock.ts';
import type { Variables } from '../platform/environment.ts';

const run = promisify(execFile);

/** A program of this machine that a trial run has shown to work. */
export type Binary = {
  program: 'mongod' | 'redis' | 'valkey';
  path: string;
  /** Three numbers, such as `8.2.6`. */
  version: string;
  /** Where the program was found, as a text for users: `on PATH`. */
  source: string;
};

/** The program and the part of its version that determines the data format: `mongod 8.2`. */
export function seriesOf(binary: Pick<Binary, 'program' | 'version'>): string {
  return `${binary.program} ${binary.version.split('.').slice(0, 2).join('.')}`;
}

/** The path of the program `name` on PATH, or undefined. */
export async function onPath(name: string, env: Variables): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return undefined;
}

/** Tries the program `name` on PATH. Throws as `tryBinary` does, and when the program is not on PATH. */
export async function tryOnPath(name: string, kind: 'mongod' | 'redis', env: Variables): Promise<Binary> {
  const path = await onPath(name, env);
  if (!path) throw new Error(`there is no ${name} on PATH`);
  return await tryBinary(path, kind, 'on PATH');
}

/**
 * Runs `path --version` and reads the program and version.
 *
 * @param kind - the expected program; `redis` also accepts Valkey
 * @throws when the file does not run on this machine or is another program; the message gives the reason.
 */
export async function tryBinary(path: string, kind: 'mongod' | 'redis', source: string): Promise<Binary> {
  const { stdout } = await run(path, ['--version'], { timeout: 30 * SECOND }).catch((error) => {
    const message = String(error.stderr || error.message)
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(`${path} does not run here (${message})`);
  });
  const [, program, version] =
    /^(db|Redis|Valkey)(?: version | server )v=?(\d+\.\d+\.\d+)/m.exec(stdout) ?? [];
  if (version && kind === 'mongod' && program === 'db') return { program: 'mongod', path, version, source };
  if (version && kind === 'redis' && program === 'Redis') return { program: 'redis', path, version, source };
  if (version && kind === 'redis' && program === 'Valkey')
    return { program: 'valkey', path, version, source };
  throw new Error(`${path} is not a ${kind === 'mongod' ? 'mongod' : 'Redis or Valkey server'}`);
}
