import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file that can be read from its beginning more than once. */
export type SourceFile = {
  /** In bytes. */
  size: number;
  read(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
};

/**
 * Opens a file for an import, which reads it twice: to check it, and to import it. Standard input and pipes can be read
 * only once, so they are copied to a temporary file. This copy is unlinked at once, so it disappears with the process.
 *
 * @param path - `-` is standard input
 * @param standardInput - what `-` reads
 * @throws the system's error when the file cannot be opened or read: EISDIR for a folder
 */
export async function openSourceFile(
  path: string,
  standardInput: AsyncIterable<Uint8Array>,
): Promise<SourceFile> {
  if (path === '-') return await sourceOf(await copied(standardInput));
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (stat.isFile()) return await sourceOf(file);
    const copy = await copied(file.createReadStream({ autoClose: false }));
    await file.close();
    return await sourceOf(copy);
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function sourceOf(file: FileHandle): Promise<SourceFile> {
  const { size } = await file.stat();
  return {
    size,
    read: () => file.createReadStream({ start: 0, autoClose: false }),
    close: () => file.close(),
  };
}

async function copied(chunks: AsyncIterable<Uint8Array>): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-import-'));
  const file = await open(join(folder, 'copy'), 'wx+', 0o600);
  try {
    await rm(folder, { recursive: true });
    for await (const chunk of chunks) await file.appendFile(chunk);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
