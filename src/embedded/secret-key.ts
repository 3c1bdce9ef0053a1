import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './service-error.ts';

/**
 * The SECRET_KEY that is kept in `dataDir`; made at the first call: 32 random bytes in base64, readable by
 * its owner only. The folder's lock must be held: two processes would make two keys.
 *
 * @throws {ServiceError} when the file is there but holds no key.
 */
export async function storedSecretKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret-key');
  try {
    const kept = (await readFile(path, 'utf8')).trim();
    if (kept.length >= 32) return kept;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const made = randomBytes(32).toString('base64');
    // In one step: a crash in the middle must not leave half a key behind.
    await writeFile(`${path}.new`, `${made}\n`, { mode: 0o600, flush: true });
    await rename(`${path}.new`, path);
    return made;
  }
  throw new ServiceError(
    `${path} holds no key: put back the one that it held, or delete the file to have a new one made; listener keys and tokens stored so far can then no longer be read.`,
  );
}
