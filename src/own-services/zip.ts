import { inflateRawSync } from 'node:zlib';

/**
 * The content of the first entry of a zip archive whose path ends with `pathEnd` (APPNOTE.TXT 4.3, without zip64).
 *
 * @throws when the archive has no such entry, or the entry has an unknown compression method.
 */
export function readZipEntry(archive: Buffer, pathEnd: string): Buffer {
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

/**
 * Reads an entry's content. `at` is its position in the central directory, which has the sizes; the local header may
 * lack them.
 */
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
