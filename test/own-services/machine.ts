import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';

const run = promisify(execFile);

/** A new machine: its PATH has only the programs that the test puts into it, and its caches are empty. */
export type Machine = {
  env: Variables;
  /** The folder of downloaded programs. */
  cacheDir: string;
  /** Puts a program on PATH under its own name. */
  add(name: string, path: string): Promise<void>;
  /** Puts a python3 on PATH that has pip. */
  addPython(): Promise<void>;
};

/** A machine with an empty PATH on which MongoDB's own download is refused; it is gone after the test. */
export async function bareMachine(): Promise<Machine> {
  const home = await mkdtemp(join(tmpdir(), 'tallyport-machine-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const bin = join(home, 'bin');
  await mkdir(bin);
  return {
    env: {
      ...ownEnvironment(),
      PATH: bin,
      HOME: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      MONGOMS_SYSTEM_BINARY: undefined,
      // Nothing listens there.
      MONGOMS_DOWNLOAD_MIRROR: 'https://127.0.0.1:1',
    },
    cacheDir: join(home, 'cache', 'tallyport'),
    add: (name, path) => symlink(path, join(bin, name)),
    async addPython() {
      const { stdout } = await run('python3', ['-c', 'import sys; print(sys.executable)']);
      await writeFile(join(bin, 'python3'), `#!/bin/sh\nexec ${stdout.trim()} "$@"\n`);
      await chmod(join(bin, 'python3'), 0o755);
    },
  };
}
