import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** In bytes. MongoDB limits documents to 16 MB, but documents of its own collections may be some KB larger. */
const LARGEST_DOCUMENT = 17 * 1_024 * 1_024;

/** Each BSON document begins with its length. */
const LENGTH_BYTES = 4;

const PART_BYTES = 256 * 1_024;

/** Fast, so that a backup uses little processor time. */
const GZIP_LEVEL = 3;

/** Writes BSON documents into a new file that only its owner can read, and waits until it is on the disk. */
export async function writeBsonFile(
  path: string,
  documents: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    Readable.from(joined(documents), { highWaterMark: 2 }),
    createGzip({ level: GZIP_LEVEL }),
    async function* counted(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
  );
  return { bytes, sha256: hash.digest('hex') };
}

/** Joins small documents into larger parts, so that zlib is called less often. */
async function* joined(documents: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let part: Uint8Array[] = [];
  let bytes = 0;
  for await (const document of documents) {
    part.push(document);
    bytes += document.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(part, bytes);
    part = [];
    bytes = 0;
  }
  yield Buffer.concat(part, bytes);
}

export async function sha256OfFile(path: string, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: PART_BYTES })) {
    hash.update(chunk);
    onBytes(chunk.length);
  }
  return hash.digest('hex');
}

/** @throws {RangeError} when the file is damaged; the errors of zlib and of the file system */
export async function* readBsonFile(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  const source = createReadStream(path, { highWaterMark: PART_BYTES });
  const plain = source.pipe(createGunzip({ chunkSize: PART_BYTES }));
  source.on('error', (error) => plain.destroy(error));
  try {
    for await (const chunk of plain) {
      const read = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      while (read.length - at >= LENGTH_BYTES) {
        const length = read.readInt32LE(at);
        if (length < LENGTH_BYTES + 1 || length > LARGEST_DOCUMENT) {
          throw new RangeError(`a document has ${length} bytes`);
        }
        if (read.length - at < length) break;
        yield read.subarray(at, at + length);
        at += length;
      }
      rest = read.subarray(at);
    }
  } finally {
    source.destroy();
  }
  if (rest.length > 0) throw new RangeError('the file ends inside a document');
}
