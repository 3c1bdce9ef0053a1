import type { Protocol } from 'gamedig';
import type { Framing } from './tcp-connection.ts';

/** How the end of a protocol's answer is known, where gamedig takes the bytes received so far for all. */
export function framingOf(protocol: string): Framing | undefined {
  return protocol === 'minecraftvanilla' ? minecraftFrame : undefined;
}

/** A Minecraft packet says its length first, as a VarInt (gamedig counts without the VarInt's own bytes). */
function minecraftFrame(received: Buffer): number | undefined {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = received[index];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return index + 1 + length;
  }
  throw new Error('A packet length of more than five bytes');
}

const SPLIT_REPLY = -2;

/**
 * Which datagrams a protocol of gamedig's must not see.
 *
 * - `mumbleping` takes any 24 bytes for an answer; a true one repeats the number that was sent.
 * - `valve` unpacks bzip2 without a bound: a few bytes could fill the memory. Only servers of 2006 pack, and
 *   only long replies, which we do not ask for.
 */
export function refuseDatagram(name: string, protocol: Protocol): (datagram: Buffer) => boolean {
  if (name === 'mumbleping') return (datagram) => datagram.toString('hex', 4, 12) !== '0102030405060708';
  if ('goldsrcSplits' in protocol) {
    return (datagram) =>
      !protocol.goldsrcSplits &&
      datagram.length >= 8 &&
      datagram.readInt32LE(0) === SPLIT_REPLY &&
      datagram.readInt32LE(4) < 0;
  }
  return () => false;
}

/** Takes out of a protocol of gamedig's what a lying far end could keep busy for minutes. */
export function tame(name: string, protocol: Protocol): void {
  // A regular expression over the comments of all channels, whose time grows with the square of their length.
  if (protocol.cleanComment) protocol.cleanComment = (text) => text;
  boundReader(protocol, HEADLESS.includes(name) ? 2 : MOST_READS_PAST_END);
  boundBattlefield(protocol);
}

/** How often a parser may read on after the end of what came: some loop as often as the far end says. */
const MOST_READS_PAST_END = 1_000;

/** Their answers begin with nothing to know them by: only that all fields are there tells them from garbage. */
const HEADLESS = ['armagetron', 'rfactor', 'savage2'];

function boundReader(protocol: Protocol, mostPastEnd: number): void {
  const { reader: make } = protocol;
  protocol.reader = (bytes) => {
    const reader = make.call(protocol, bytes);
    const { string, uint } = reader;
    let past = 0;
    const count = () => {
      if (!reader.done()) return;
      past += 1;
      if (past > mostPastEnd) throw new Error('The answer ends before it should');
    };
    reader.string = (how) => {
      count();
      return string.call(reader, how);
    };
    reader.uint = (length) => {
      count();
      return uint.call(reader, length);
    };
    return reader;
  };
}

/** battlefield: loops as often as a word of the far end says; true counts are bounded by the words that follow. */
function boundBattlefield(protocol: Protocol): void {
  const { query } = protocol;
  if (!query) return;
  protocol.query = async (socket, command) => {
    const words = await query.call(protocol, socket, command);
    if (!Array.isArray(words)) return words;
    const counts = command[0] === 'serverInfo' ? [words[7]] : [words[0], words[1 + Number(words[0])]];
    const isCount = (word: unknown) => word === undefined || !(Number(word) > words.length);
    if (command[0] !== 'version' && !counts.every(isCount)) throw new Error('A count without its words');
    return words;
  };
}
