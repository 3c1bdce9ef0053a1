import { QueryError } from '../query-error.ts';

/**
 * Long replies of Valve's servers come in several datagrams (developer.valvesoftware.com, "Server queries", "Multi-packet
 * response format"). Each datagram has −2, the reply's id, the part's number and the total of parts, then the part
 * itself. The layouts below differ in how they write number and total.
 */

const SPLIT = Buffer.from([0xfe, 0xff, 0xff, 0xff]);
const REPLY = Buffer.alloc(4, 0xff);

/**
 * The first bytes of bzip2 data. In a compressed reply they follow the part's size, the reply's size and a checksum.
 */
const BZIP2 = Buffer.from('BZh');

/** The most datagrams of one reply. Real replies have two or three. */
const MOST_PARTS = 32;

type Part = { number: number; total: number; bytes: Buffer };

/** How a part is written. The first part of a reply, number 0, begins with the reply's header. */
const LAYOUTS: ((datagram: Buffer) => Part)[] = [
  // Source: total, number, and the size of a part.
  (datagram) => ({ number: datagram[9] ?? 0, total: datagram[8] ?? 0, bytes: datagram.subarray(12) }),
  // Source games of 2006 leave out the size.
  (datagram) => ({ number: datagram[9] ?? 0, total: datagram[8] ?? 0, bytes: datagram.subarray(10) }),
  // Half-Life: both numbers in one byte.
  (datagram) => ({
    number: (datagram[8] ?? 0) >> 4,
    total: (datagram[8] ?? 0) & 0x0f,
    bytes: datagram.subarray(9),
  }),
];

/** Shorter datagrams cannot contain a part. */
const SHORTEST_PART_BYTES = 10;

/**
 * Makes a function that gets the datagrams of a query and returns each reply when it is complete. A datagram that is not
 * split is returned as it is.
 *
 * The function throws `QueryError` `answer-broken` for a reply that is compressed. Only servers of 2006 compress, and
 * only long replies, which we do not request; a few bytes could unpack to gigabytes.
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
    // Nothing in a datagram names its layout: the right one is the one that gives a complete reply.
    const joined = LAYOUTS.map((layout) => joinedBy(layout, datagrams)).find((reply) => reply !== undefined);
    if (!joined && isCompressed(datagram)) {
      throw new QueryError('answer-broken', 'The answer is compressed with bzip2, which is not unpacked.');
    }
    return joined;
  };
}

/**
 * A compressed reply has the highest bit in its id. Half-Life ids may have that bit too, so the first part must also
 * begin with bzip2's mark.
 */
function isCompressed(datagram: Buffer): boolean {
  const isMarked = ((datagram[7] ?? 0) & 0x80) !== 0;
  return isMarked && [18, 20].some((at) => datagram.subarray(at, at + 3).equals(BZIP2));
}

/** The complete reply if the datagrams have this layout. Datagrams may come twice and in any order. */
function joinedBy(layout: (datagram: Buffer) => Part, datagrams: Buffer[]): Buffer | undefined {
  const parts = new Map(datagrams.map(layout).map((part) => [part.number, part]));
  const first = parts.get(0);
  if (!first?.bytes.subarray(0, 4).equals(REPLY)) return undefined;
  const inOrder = Array.from({ length: first.total }, (_, number) => parts.get(number));
  const matching = inOrder.filter((part) => part?.total === first.total);
  if (matching.length === 0 || matching.length < first.total) return undefined;
  return Buffer.concat(matching.flatMap((part) => part?.bytes ?? []));
}
