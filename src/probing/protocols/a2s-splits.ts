import { QueryError } from '../query-error.ts';

/**
 * Long replies of Valve's servers come in several datagrams (developer.valvesoftware.com, "Server queries",
 * "Multi-packet response format"). Each datagram has −2, the reply's id, the part's number and the number of parts,
 * then the part itself. The layouts in this file differ in how these two numbers are written.
 */

const SPLIT = Buffer.from([0xfe, 0xff, 0xff, 0xff]);
const REPLY = Buffer.alloc(4, 0xff);

/**
 * The first bytes of bzip2 data. In a compressed reply they follow the size of the part (in one of the two layouts), the
 * size of the unpacked reply and a checksum.
 */
const BZIP2 = Buffer.from('BZh');

/** How many datagrams of split replies are stored for one question. Real replies have two or three. */
const MOST_PARTS = 32;

type Part = { number: number; total: number; bytes: Buffer };

/** The layouts of a part. The first part of a reply has the number 0 and begins with the reply's header. */
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
 * Makes a function that is called with each datagram of a query and returns a reply when it is complete. A datagram
 * that is not split is returned as it is.
 *
 * The function throws `QueryError` `answer-broken` for a compressed reply, because a few bytes could unpack to
 * gigabytes. Only servers of 2006 compress, and only long replies, which are not requested.
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
    // A datagram does not say which layout it has. The right layout is the one that gives a complete reply.
    const joined = LAYOUTS.map((layout) => joinedBy(layout, datagrams)).find((reply) => reply !== undefined);
    if (!joined && isCompressed(datagram)) {
      throw new QueryError('answer-broken', 'The answer is compressed with bzip2, which is not unpacked.');
    }
    return joined;
  };
}

/**
 * Whether a reply is compressed. Its id then has the highest bit set. Half-Life's ids may have that bit too, so the
 * first part must also begin with bzip2's mark.
 */
function isCompressed(datagram: Buffer): boolean {
  const isMarked = ((datagram[7] ?? 0) & 0x80) !== 0;
  return isMarked && [18, 20].some((at) => datagram.subarray(at, at + 3).equals(BZIP2));
}

/** The complete reply, if the datagrams have this layout. Datagrams may arrive twice and in any order. */
function joinedBy(layout: (datagram: Buffer) => Part, datagrams: Buffer[]): Buffer | undefined {
  const parts = new Map(datagrams.map(layout).map((part) => [part.number, part]));
  const first = parts.get(0);
  if (!first?.bytes.subarray(0, 4).equals(REPLY)) return undefined;
  const inOrder = Array.from({ length: first.total }, (_, number) => parts.get(number));
  const matching = inOrder.filter((part) => part?.total === first.total);
  if (matching.length === 0 || matching.length < first.total) return undefined;
  return Buffer.concat(matching.flatMap((part) => part?.bytes ?? []));
}
