import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline as piped } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** Can be read from its beginning more than once. */
export type SourceFile = {
  size: number;
  read(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
};

/**
 * An import reads a file twice. Standard input (`-`) and pipes can be read only once, so they are copied to a temporary
 * file: compressed, because a container's temporary files are often a few MB of memory, and unlinked at once, so it
 * disappears with the process.
 * @throws the system's error: EISDIR for a folder, ENOSPC when there is no room for the copy
 */
export async function openSourceFile(
  path: string,
  standardInput: AsyncIterable<Uint8Array>,
): Promise<SourceFile> {
  if (path === '-') return await copyOf(standardInput);
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (stat.isFile()) {
      return {
        size: stat.size,
        read: () => file.createReadStream({ start: 0, autoClose: false }),
        close: () => file.close(),
      };
    }
    const copy = await copyOf(file.createReadStream({ autoClose: false }));
    await file.close();
    return copy;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function copyOf(chunks: AsyncIterable<Uint8Array>): Promise<SourceFile> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-import-'));
  const file = await open(join(folder, 'copy'), 'wx+', 0o600).finally(() => rm(folder, { recursive: true }));
  try {
    const size = await writeCompressed(chunks, file);
    return {
      size,
      // An error of the file destroys the stream that is read, with this error.
      read: () => piped(file.createReadStream({ start: 0, autoClose: false }), createGunzip(), () => {}),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function writeCompressed(chunks: AsyncIterable<Uint8Array>, file: FileHandle): Promise<number> {
  let size = 0;
  const measured = async function* () {
    for await (const chunk of chunks) {
      size += chunk.length;
      yield chunk;
    }
  };
  // The fastest level: lines of votes shrink to an eighth.
  await pipeline(measured, createGzip({ level: 1 }), async (compressed) => {
    for await (const chunk of compressed) await file.appendFile(chunk);
  });
  return size;
}
