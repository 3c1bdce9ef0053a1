/** Pieces that parsers treat in a special way: lengths, signs, escapes, ends and openings. */
const PIECES = [
  '\0',
  '\xff',
  '\xff\xff\xff\xff',
  '\x7f\xff\xff\xff',
  '\x80\x80\x80\x80\x80\x80\x80\x80',
  '\n',
  '\r\n\r\n',
  '{',
  '}',
  '[',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '-1',
  '1e999',
  '99999999999999999999',
  'null',
  '{"__proto__":1}',
  '\xc2\xa7k',
  '^1',
  '%s',
  ';',
  '<a href="',
  '](javascript:',
  '\xf0\x9f\x98\x80',
  '\xed\xa0\x80',
].map((piece) => Buffer.from(piece, 'latin1'));

/** The largest input, in bytes. A reply of a game server may have 512 KiB, and is then one of the slow ones. */
const LARGEST = 64 * 1_024;

/**
 * Makes an input of a known one by one to eight changes: flipped bits, other numbers, cuts, pieces put in or repeated, and
 * parts of another known input.
 *
 * @param random - gives numbers from 0 to 1
 */
export function mutate(random: () => number, seeds: Buffer[]): Buffer {
  const one = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
  let bytes = Buffer.from(one(seeds));
  const below = (end: number) => Math.floor(random() * end);
  const putIn = (piece: Buffer) => {
    const at = below(bytes.length + 1);
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
  };
  const part = (of: Buffer) => {
    const at = below(of.length + 1);
    return of.subarray(at, at + below(of.length - at + 1));
  };
  const changes = [
    () => {
      if (bytes.length > 0) bytes[below(bytes.length)] = below(256);
    },
    () => {
      const at = below(bytes.length);
      if (bytes.length > 0) bytes[at] = (bytes[at] as number) ^ (1 << below(8));
    },
    () => {
      if (bytes.length >= 4) bytes.writeUInt32LE(below(2 ** 32), below(bytes.length - 3));
    },
    () => {
      bytes = Buffer.from(bytes.subarray(0, below(bytes.length + 1)));
    },
    () => {
      const cut = part(bytes);
      bytes = Buffer.concat([
        bytes.subarray(0, cut.byteOffset - bytes.byteOffset),
        bytes.subarray(cut.length),
      ]);
    },
    () => putIn(one(PIECES)),
    () => putIn(part(one(seeds))),
    () => {
      const piece = random() < 0.5 ? one(PIECES) : part(bytes);
      const times = Math.min(2 ** below(14), Math.floor(LARGEST / Math.max(1, piece.length)));
      putIn(Buffer.concat(Array.from({ length: times }, () => piece)));
    },
  ];
  for (let left = 1 + below(8); left > 0; left -= 1) one(changes)();
  return bytes.subarray(0, LARGEST);
}
