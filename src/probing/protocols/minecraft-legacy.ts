import { QueryError } from '../query-error.ts';
import { countOf, type UncheckedAnswer } from '../read-answer.ts';

/**
 * Up to 1.6.4 (minecraft.wiki, "Java Edition protocol/Server List Ping"): the answer is a kick packet, the byte FF, the
 * number of UTF-16 code units, and a text with fields.
 */

const PING = 0xfe;
const KICK = 0xff;

/** Of Minecraft 1.6.4, the last without the status request. Later servers send 127. */
const LAST_VERSION = 78;

export type LegacyAnswer = {
  said: UncheckedAnswer;
  /** Minecraft 1.7 or later, which also answers the more detailed status request. */
  isModern: boolean;
};

/**
 * Those of 1.6, with the host that players use; of 1.4 and 1.5; of Beta 1.8 to 1.3. The longest comes first: a 1.6
 * server that gets a shorter one waits for the rest.
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

/** A status never begins with FF 00: no length is encoded like this. */
export function isKick(received: Buffer): boolean {
  return received[0] === KICK && received[1] === 0;
}

/** Not an answer to a list ping: the server refuses the request. */
export class KickedError extends QueryError {
  constructor() {
    super('answer-broken', 'The server refuses the status request.');
    this.name = 'KickedError';
  }
}

/** Undefined while the packet is not complete. @throws {KickedError} when the text is no answer; {QueryError} */
export function readKick(received: Buffer): LegacyAnswer | undefined {
  if (received.length > 0 && received[0] !== KICK) {
    throw new QueryError('answer-broken', 'What the server sends is not an answer of Minecraft Java.');
  }
  if (received.length < 3) return undefined;
  const end = 3 + 2 * received.readUInt16BE(1);
  if (received.length < end) return undefined;
  // `swap16` changes the bytes in place.
  const text = Buffer.from(received.subarray(3, end)).swap16().toString('utf16le');
  const answer = text.startsWith('§1\0') ? fieldsFrom14(text) : fieldsOfBeta(text);
  if (!answer) throw new KickedError();
  return answer;
}

/** Since 1.4: `§1`, protocol version, version, message, players and limit, separated by NULs. */
function fieldsFrom14(text: string): LegacyAnswer | undefined {
  const [, protocol, version, name, players, maxPlayers] = text.split('\0', 6);
  if (name === undefined) return undefined;
  return { said: { name, version, players, maxPlayers }, isModern: Number(protocol) > LAST_VERSION };
}

/** Beta 1.8 to 1.3: message, players and limit, separated by §. The message may contain § codes. */
function fieldsOfBeta(text: string): LegacyAnswer | undefined {
  const limitAt = text.lastIndexOf('§');
  const playersAt = limitAt > 0 ? text.lastIndexOf('§', limitAt - 1) : -1;
  if (playersAt < 0) return undefined;
  const players = text.slice(playersAt + 1, limitAt);
  const maxPlayers = text.slice(limitAt + 1);
  // A kick that is not an answer may contain § codes too, but not so many numbers.
  if (countOf(players) === null || countOf(maxPlayers) === null) return undefined;
  return { said: { name: text.slice(0, playersAt), version: '', players, maxPlayers }, isModern: false };
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** After its length in UTF-16 code units. */
function utf16(text: string): Buffer {
  return Buffer.concat([uint16(text.length), Buffer.from(text, 'utf16le').swap16()]);
}
