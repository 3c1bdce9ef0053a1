import type { OwnProtocol } from '../own-protocol.ts';
import { QueryError } from '../query-error.ts';
import { countOf, type UncheckedAnswer } from '../read-answer.ts';

/**
 * RakNet's unconnected ping and pong (minecraft.wiki, "RakNet"): a text with edition, name, protocol, version, players,
 * limit, and others that are not used.
 */

/** Marks RakNet packets outside a connection. */
const MAGIC = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex');

const PONG = 0x1c;
/** It follows the packet's id, the time of the ping and the server's id. */
const MAGIC_AT = 1 + 8 + 8;
const LENGTH_AT = MAGIC_AT + MAGIC.length;
const TEXT_AT = LENGTH_AT + 2;

/** Its id, a time that the server repeats, `MAGIC`, and the client's id. */
const BEDROCK_PING = Buffer.concat([Buffer.from('011122334455667788', 'hex'), MAGIC, Buffer.alloc(8)]);

export const askBedrock: OwnProtocol = (_, connections) => connections.askDatagram(BEDROCK_PING, readPong);

/** Undefined for other datagrams. @throws {QueryError} `answer-broken` for a pong without the text of a server */
export function readPong(datagram: Buffer): UncheckedAnswer | undefined {
  if (datagram[0] !== PONG || !datagram.subarray(MAGIC_AT, LENGTH_AT).equals(MAGIC)) return undefined;
  if (datagram.length < TEXT_AT) throw notPong();
  const text = datagram.toString('utf8', TEXT_AT, TEXT_AT + datagram.readUInt16BE(LENGTH_AT));
  const written = splitFields(text, true);
  // Perhaps the server does not escape, and its name ends with a backslash.
  const fields = [written, splitFields(text, false)].find(isInPlace);
  const [, name = '', , version = '', players, maxPlayers] = fields ?? written;
  const said = fields ? { version, players, maxPlayers } : { version: '', players: null, maxPlayers: null };
  if (name === '' && countOf(said.players) === null && countOf(said.maxPlayers) === null) throw notPong();
  return { name, ...said };
}

const notPong = () => new QueryError('answer-broken', 'The answer has not the fields of a Bedrock server.');

/** More than any server sends. */
const MOST_FIELDS = 16;

/** In an escaped text, `\;` is a semicolon and `\\` a backslash. */
function splitFields(text: string, isEscaped: boolean): string[] {
  if (!isEscaped) return text.split(';', MOST_FIELDS);
  const fields = [''];
  for (let at = 0; at < text.length; at += 1) {
    const isEscape = text[at] === '\\' && (text[at + 1] === ';' || text[at + 1] === '\\');
    if (isEscape) at += 1;
    if (text[at] === ';' && !isEscape && fields.length < MOST_FIELDS) fields.push('');
    else fields[fields.length - 1] += text[at] ?? '';
  }
  return fields;
}

/** A version number, or the beginning of one. */
const VERSION = /^\s*v?\d+\.\d/;

/**
 * A semicolon in the name that is not escaped moves all later fields: then there is a text in the place of the
 * protocol, a whole number in that of the version, or a version in that of a count or the server's id.
 */
function isInPlace([, , protocol = '', version = '', ...numbers]: string[]): boolean {
  if (!/^-?\d*$/.test(protocol.trim()) || /^\d+$/.test(version.trim())) return false;
  return !numbers.slice(0, 3).some((number) => VERSION.test(number));
}
