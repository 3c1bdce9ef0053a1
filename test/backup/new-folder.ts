import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTheEnd } from '../support/at-the-end.ts';

/** The path of a folder that does not exist yet, in one that is deleted when the test or the file ends. */
export async function newFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'tallyport-backup-'));
  atTheEnd(() => rm(parent, { recursive: true }));
  return join(parent, 'backup');
}
