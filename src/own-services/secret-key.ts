import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './service-error.ts';

/**
 * The SECRET_KEY stored in `dataDir`; makes one if there is none. The caller must own the folder's lock, or two
 * processes could make two keys.
 *
 * @throws {ServiceError} when the file exists but has no key
 */
export async function storedSecretKey(dataDir: string): Promise<string> {
  const stored = await readSecretKey(dataDir);
  if (stored !== null) return stored;
  const path = join(dataDir, 'secret-key');
  const made = randomBytes(32).toString('base64');
  // Renaming is atomic: a crash must not leave half a key.
  await writeFile(`${path}.new`, `${made}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  return made;
}

export async function readSecretKey(dataDir: string): Promise<string | null> {
  const path = join(dataDir, 'secret-key');
  try {
    const stored = (await readFile(path, 'utf8')).trim();
    if (stored.length >= 32) return stored;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  throw new ServiceError(
    `${path} has no key: restore its previous content, or delete the file to make a new key; listener keys and tokens stored so far can then no longer be read.`,
  );
}
