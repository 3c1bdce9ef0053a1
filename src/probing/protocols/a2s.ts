import { QueryError } from '../query-error.ts';
import { peopleAmong, type UncheckedAnswer } from '../read-answer.ts';

/**
 * developer.valvesoftware.com, "Server queries". The first question has the counts; some servers never answer the
 * others.
 */

const HEADER = Buffer.alloc(4, 0xff);

/** All servers since 2008 answer it. */
export const INFO_REQUEST = Buffer.concat([HEADER, Buffer.from('TSource Engine Query\0')]);

/** Half-Life servers before 2008 answer it. */
export const DETAILS_REQUEST = Buffer.concat([HEADER, Buffer.from('details\0')]);

const INFO = 0x49;
const DETAILS = 0x6d;
const CHALLENGE = 0x41;

const THE_SHIP = 2_400;
const RUST = 252_490;
const COUNTER_STRIKE = 730;

type Decode = (bytes: Buffer) => string;

/** A challenge must be sent back: it proves that the sender's address is not forged. */
export type A2sReply = { challenge: Buffer } | { said: UncheckedAnswer };

/**
 * Undefined for a reply to another question, and for data that is not a reply.
 *
 * @throws {QueryError} `answer-broken` for an answer that ends before the counts, or has no text
 */
export function readA2sReply(reply: Buffer, decode: Decode): A2sReply | undefined {
  if (!reply.subarray(0, 4).equals(HEADER)) return undefined;
  const fields = new Fields(reply, 5, decode);
  switch (reply[4]) {
    case CHALLENGE:
      return reply.length < 9 ? undefined : { challenge: reply.subarray(5, 9) };
    case INFO:
      return { said: readInfo(fields) };
    case DETAILS:
      return { said: readDetails(fields) };
    default:
      return undefined;
  }
}

function readInfo(fields: Fields): UncheckedAnswer {
  fields.byte(); // The protocol's version.
  const name = readTexts(fields);
  const shortAppId = fields.uint(2);
  const counts = readCounts(fields);
  const bots = fields.byte() ?? 0;
  fields.skip(4); // Type, operating system, password, VAC.
  if (shortAppId === THE_SHIP) fields.skip(3);
  const version = fields.text() ?? '';
  const { appId, keywords } = readExtra(fields);
  const isEmpty = appId === COUNTER_STRIKE && keywords?.split(',').includes('empty');
  const people = { players: isEmpty ? 0 : peopleAmong(counts.players, bots), maxPlayers: counts.maxPlayers };
  return { name, version, ...people, ...(appId === RUST ? countsOfRust(keywords) : {}) };
}

/** Before 2008; without a version of the game. */
function readDetails(fields: Fields): UncheckedAnswer {
  fields.text(); // The server's address.
  const name = readTexts(fields);
  const { players, maxPlayers } = readCounts(fields);
  fields.skip(4); // The protocol's version, type, operating system, password.
  const isMod = fields.byte() === 1;
  if (isMod) {
    fields.text();
    fields.text();
    fields.skip(1 + 4 + 4 + 1 + 1); // A NUL, version, size, type, DLL.
  }
  fields.skip(1); // VAC.
  const bots = fields.byte() ?? 0;
  return { name, version: '', players: peopleAmong(players, bots), maxPlayers };
}

/** Reads name, map, folder and game. */
function readTexts(fields: Fields): string {
  const texts = [fields.text(), fields.text(), fields.text(), fields.text()];
  const [name] = texts;
  if (name === undefined || texts.includes(undefined) || texts.every((text) => text === '')) throw notInfo();
  return name;
}

/** The number of players includes bots. */
function readCounts(fields: Fields): { players: number; maxPlayers: number } {
  const players = fields.byte();
  const maxPlayers = fields.byte();
  if (players === undefined || maxPlayers === undefined) throw notInfo();
  return { players, maxPlayers };
}

/** Optional fields at the end; one that is missing or cut off is undefined. */
function readExtra(fields: Fields): { appId?: number; keywords?: string } {
  const flags = fields.byte() ?? 0;
  if (flags & 0x80) fields.skip(2); // The players' port.
  if (flags & 0x10) fields.skip(8); // The server's SteamID.
  if (flags & 0x40) {
    fields.skip(2); // Port and name of SourceTV.
    fields.text();
  }
  const keywords = flags & 0x20 ? fields.text() : undefined;
  // The lower 24 bits of the game's id.
  const appId = flags & 0x01 ? fields.uint(3) : undefined;
  return { ...(keywords === undefined ? {} : { keywords }), ...(appId === undefined ? {} : { appId }) };
}

/** They may exceed a byte: `cp` is the number of players, `mp` their limit. */
function countsOfRust(keywords = ''): { players?: string; maxPlayers?: string } {
  const players = /(?:^|,)cp(\d{1,10})(?=,|$)/.exec(keywords)?.[1];
  const maxPlayers = /(?:^|,)mp(\d{1,10})(?=,|$)/.exec(keywords)?.[1];
  return {
    ...(players === undefined ? {} : { players }),
    ...(maxPlayers === undefined ? {} : { maxPlayers }),
  };
}

const notInfo = () => new QueryError('answer-broken', 'The answer has not the fields of a Source server.');

/** If a field is cut off, it and all fields after it are undefined. */
class Fields {
  readonly #bytes: Buffer;
  readonly #decode: Decode;
  #at: number;

  constructor(bytes: Buffer, at: number, decode: Decode) {
    this.#bytes = bytes;
    this.#at = at;
    this.#decode = decode;
  }

  skip(length: number): void {
    this.#at += length;
  }

  byte(): number | undefined {
    return this.uint(1);
  }

  /** Little-endian. */
  uint(length: number): number | undefined {
    const at = this.#at;
    this.#at += length;
    return this.#at <= this.#bytes.length ? this.#bytes.readUIntLE(at, length) : undefined;
  }

  /** Ends with NUL. */
  text(): string | undefined {
    const start = this.#at;
    const end = start < this.#bytes.length ? this.#bytes.indexOf(0, start) : -1;
    this.#at = end < 0 ? this.#bytes.length + 1 : end + 1;
    return end < 0 ? undefined : this.#decode(this.#bytes.subarray(start, end));
  }
}
