import { QueryError } from '../query-error.ts';

/**
 * Long replies come in several datagrams (developer.valvesoftware.com, "Server queries", "Multi-packet response
 * format"): −2, the reply's id, the part's number and the number of parts, then the part. Layouts differ in these two
 * numbers.
 */

const SPLIT = Buffer.from([0xfe, 0xff, 0xff, 0xff]);
const REPLY = Buffer.alloc(4, 0xff);

/** In a compressed reply it follows the size of the part (in one layout), that of the unpacked reply and a checksum. */
const BZIP2 = Buffer.from('BZh');

/** Stored for one question. Real replies have two or three. */
const MOST_PARTS = 32;

type Part = { number: number; total: number; bytes: Buffer };

/** The first part has the number 0 and begins with the reply's header. */
const LAYOUTS: ((datagram: Buffer) => Part)[] = [
  // Source: number of parts, number of this part, size of a part.
  (datagram) => ({ number: datagram[9] ?? 0, total: datagram[8] ?? 0, bytes: datagram.subarray(12) }),
  // Source games of 2006: the same without the size.
  (datagram) => ({ number: datagram[9] ?? 0, total: datagram[8] ?? 0, bytes: datagram.subarray(10) }),
  // Half-Life: both numbers in one byte.
  (datagram) => ({
    number: (datagram[8] ?? 0) >> 4,
    total: (datagram[8] ?? 0) & 0x0f,
    bytes: datagram.subarray(9),
  }),
];

const SHORTEST_PART_BYTES = 10;

/**
 * The function gets each datagram and returns a complete reply, or a datagram that is not split.
 *
 * It throws `QueryError` `answer-broken` for a compressed reply: a few bytes could unpack to gigabytes. Only servers of
 * 2006 compress, and only long replies, which are not requested.
 */
export function joinSplits(): (datagram: Buffer) => Buffer | undefined {
  const byId = new Map<number, Buffer[]>();
  let kept = 0;
  return (datagram) => {
    if (!datagram.subarray(0, 4).equals(SPLIT)) return datagram;
    if (datagram.length < SHORTEST_PART_BYTES || kept >= MOST_PARTS) return undefined;
    const id = datagram.readUInt32LE(4);
    const datagrams = byId.get(id) ?? [];
    byId.set(id, datagrams);
    datagrams.push(datagram);
    kept += 1;
    // The right layout is the one that gives a complete reply.
    const joined = LAYOUTS.map((layout) => joinedBy(layout, datagrams)).find((reply) => reply !== undefined);
    if (!joined && isCompressed(datagram)) {
      throw new QueryError('answer-broken', 'The answer is compressed with bzip2, which is not unpacked.');
    }
    return joined;
  };
}

/** The id has the highest bit set. Half-Life's ids may have it too, so bzip2's mark must follow. */
function isCompressed(datagram: Buffer): boolean {
  const isMarked = ((datagram[7] ?? 0) & 0x80) !== 0;
  return isMarked && [18, 20].some((at) => datagram.subarray(at, at + 3).equals(BZIP2));
}

/** Datagrams may arrive twice and in any order. */
function joinedBy(layout: (datagram: Buffer) => Part, datagrams: Buffer[]): Buffer | undefined {
  const parts = new Map(datagrams.map(layout).map((part) => [part.number, part]));
  const first = parts.get(0);
  if (!first?.bytes.subarray(0, 4).equals(REPLY)) return undefined;
  const inOrder = Array.from({ length: first.total }, (_, number) => parts.get(number));
  const matching = inOrder.filter((part) => part?.total === first.total);
  if (matching.length === 0 || matching.length < first.total) return undefined;
  return Buffer.concat(matching.flatMap((part) => part?.bytes ?? []));
}
