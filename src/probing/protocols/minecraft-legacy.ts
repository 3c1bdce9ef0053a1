import { QueryError } from '../query-error.ts';
import { countOf, type Said } from '../read-answer.ts';

/**
 * The list ping of Minecraft Java up to 1.6.4 (minecraft.wiki, "Java Edition protocol/Server List Ping"). The server
 * answers with a kick packet: the byte FF, the number of UTF-16 code units, and a text with fields.
 */

const PING = 0xfe;
const KICK = 0xff;

/** The protocol version of Minecraft 1.6.4, the last one without the status request. Later servers answer 127. */
const LAST_VERSION = 78;

/** The answer to a list ping. */
export type LegacyAnswer = {
  said: Said;
  /** Whether the server is of Minecraft 1.7 or later. Then it answers the status request too, and says more there. */
  isModern: boolean;
};

/**
 * The list pings, the newest first: that of 1.6, with the host that players use; that of 1.4 and 1.5; that of Beta 1.8
 * to 1.3. A 1.6 server waits for the rest of a shorter one.
 */
export function legacyPings(host: string, port: number): [Buffer, Buffer, Buffer] {
  const name = utf16(host);
  const portBytes = Buffer.alloc(4);
  portBytes.writeInt32BE(port);
  const data = Buffer.concat([Buffer.from([LAST_VERSION]), name, portBytes]);
  const pluginMessage = [Buffer.from([0xfa]), utf16('MC|PingHost'), uint16(data.length), data];
  return [
    Buffer.concat([Buffer.from([PING, 1]), ...pluginMessage]),
    Buffer.from([PING, 1]),
    Buffer.from([PING]),
  ];
}

/** Whether the bytes begin with a kick packet. The length of a status is never written as FF 00. */
export function isKick(received: Buffer): boolean {
  return received[0] === KICK && received[1] === 0;
}

/** The server refuses the request with a kick packet that is no answer to a list ping. */
export class KickedError extends QueryError {
  constructor() {
    super('answer-broken', 'The server refuses the status request.');
    this.name = 'KickedError';
  }
}

/**
 * Reads the answer to a list ping from all bytes received so far.
 *
 * @returns undefined while the packet is not complete
 * @throws {KickedError} when the text has not the fields of an answer
 * @throws {QueryError} `answer-broken` when the bytes are no kick packet
 */
export function readKick(received: Buffer): LegacyAnswer | undefined {
  if (received.length > 0 && received[0] !== KICK) {
    throw new QueryError('answer-broken', 'What the server sends is not an answer of Minecraft Java.');
  }
  if (received.length < 3) return undefined;
  const end = 3 + 2 * received.readUInt16BE(1);
  if (received.length < end) return undefined;
  // The bytes are copied, because `swap16` changes them in place.
  const text = Buffer.from(received.subarray(3, end)).swap16().toString('utf16le');
  const answer = text.startsWith('§1\0') ? fieldsFrom14(text) : fieldsOfBeta(text);
  if (!answer) throw new KickedError();
  return answer;
}

/** Since 1.4: `§1`, protocol version, version, message, players and limit, each followed by NUL. */
function fieldsFrom14(text: string): LegacyAnswer | undefined {
  const [, protocol, version, name, players, maxPlayers] = text.split('\0', 6);
  if (name === undefined) return undefined;
  return { said: { name, version, players, maxPlayers }, isModern: Number(protocol) > LAST_VERSION };
}

/** Beta 1.8 to 1.3: message, players and limit with § between them. The message may have § codes. */
function fieldsOfBeta(text: string): LegacyAnswer | undefined {
  const limitAt = text.lastIndexOf('§');
  const playersAt = limitAt > 0 ? text.lastIndexOf('§', limitAt - 1) : -1;
  if (playersAt < 0) return undefined;
  const players = text.slice(playersAt + 1, limitAt);
  const maxPlayers = text.slice(limitAt + 1);
  // Another kick may have § codes too. Its text after the last two of them is no number.
  if (countOf(players) === null || countOf(maxPlayers) === null) return undefined;
  return { said: { name: text.slice(0, playersAt), version: '', players, maxPlayers }, isModern: false };
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** A text with its length in UTF-16 code units. */
function utf16(text: string): Buffer {
  return Buffer.concat([uint16(text.length), Buffer.from(text, 'utf16le').swap16()]);
}
