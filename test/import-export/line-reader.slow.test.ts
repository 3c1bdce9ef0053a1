import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Line, readLines } from '../../src/import-export/line-reader.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The lines of `bytes` when they come in chunks of `size` bytes. */
async function linesOf(bytes: string | Buffer, size = 7): Promise<Line[]> {
  const all = Buffer.from(bytes);
  const chunks: Buffer[] = [];
  for (let start = 0; start < all.length; start += size) chunks.push(all.subarray(start, start + size));
  const lines: Line[] = [];
  for await (const line of readLines(Readable.from(chunks))) lines.push(line);
  return lines;
}

const texts = async (bytes: string | Buffer, size?: number) =>
  (await linesOf(bytes, size)).map((line) => [line.number, 'text' in line ? line.text : line.error]);

describe('lines of a file', () => {
  it('end in LF or CRLF, the last one with or without', async () => {
    for (const file of ['{"a":1}\n{"b":2}\n', '{"a":1}\r\n{"b":2}\r\n', '{"a":1}\n{"b":2}']) {
      expect(await texts(file)).toEqual([
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ]);
    }
  });

  it('keep their numbers where empty lines and a byte order mark are passed over', async () => {
    expect(await texts('\ufeff{}\n\n  \r\n[]')).toEqual([
      [1, '{}'],
      [4, '[]'],
    ]);
    expect(await texts('')).toEqual([]);
    expect(await texts('\n\n')).toEqual([]);
  });

  it('are whole wherever chunks end, also within a character', async () => {
    for (const size of [1, 2, 3, 5, 1_000]) {
      expect(await texts('{"name":"我的世界🎮"}\n{"ü":1}\n', size)).toEqual([
        [1, '{"name":"我的世界🎮"}'],
        [2, '{"ü":1}'],
      ]);
    }
  });

  it('tell how many bytes of the file end with them', async () => {
    const lines = await linesOf('{}\r\n{"ü":1}\n\n[]');
    expect(lines.map(({ bytesRead }) => bytesRead)).toEqual([4, 13, 16]);
  });

  it('that are not UTF-8 give one error each', async () => {
    const latin = Buffer.concat([Buffer.from('{}\n{"name":"'), Buffer.from([0xe9]), Buffer.from('"}\n[]')]);
    expect(await texts(latin)).toEqual([
      [1, '{}'],
      [2, 'it is not UTF-8 text'],
      [3, '[]'],
    ]);
    expect((await texts(Buffer.from('\ufeff{}', 'utf16le')))[0]).toEqual([1, 'it is not UTF-8 text']);
  });

  it('that are too long give errors and are not buffered', async () => {
    const chunks: WeakRef<Buffer>[] = [];
    const megabytes = async function* () {
      yield Buffer.from('{}\n"');
      for (let count = 0; count < 256; count++) {
        const chunk = Buffer.alloc(1_024 * 1_024, 0x61);
        chunks.push(new WeakRef(chunk));
        yield chunk;
      }
      yield Buffer.from('"\n[]\n');
    };
    const found: unknown[] = [];
    let most = 0;
    for await (const line of readLines(megabytes())) {
      // What a WeakRef was just made of stays until the next turn of the event loop.
      await setImmediate();
      collectGarbage();
      most = Math.max(most, chunks.filter((chunk) => chunk.deref()).length);
      found.push('text' in line ? line.text : line.error);
    }
    expect(found).toEqual(['{}', 'it is longer than 65536 bytes', '[]']);
    expect(chunks).toHaveLength(256);
    expect(most).toBeLessThan(16);
  });
});
