import { legacyText } from '../minecraft-text.ts';
import { QueryError } from '../query-error.ts';
import type { UncheckedAnswer } from '../read-answer.ts';

/** Since 1.7 (minecraft.wiki, "Java Edition protocol/Server List Ping"). A packet begins with its length, a VarInt. */

/** Of Minecraft 1.8. Servers answer whatever the version is. */
const CLIENT_VERSION = 47;
const STATUS_PACKET = 0;
const STATUS_STATE = 1;

/** Real servers send less. */
const LONGEST_STATUS = 256 * 1_024;

/** `host`: the name that players' clients send; proxies route by it. */
export function statusRequest(host: string, port: number): Buffer {
  const name = Buffer.from(host);
  const handshake = Buffer.concat([
    varInt(STATUS_PACKET),
    varInt(CLIENT_VERSION),
    varInt(name.length),
    name,
    Buffer.from([port >> 8, port & 0xff]),
    varInt(STATUS_STATE),
  ]);
  return Buffer.concat([framed(handshake), framed(varInt(STATUS_PACKET))]);
}

/**
 * From all bytes received so far; undefined while the packet is not complete.
 *
 * @throws {QueryError} `answer-broken` or `answer-too-long` as soon as the bytes cannot be a status
 */
export function readMinecraftStatus(received: Buffer): UncheckedAnswer | undefined {
  const length = readVarInt(received, 0);
  if (!length) return undefined;
  if (length.value === 0 || length.value > 0x7f_ff_ff_ff) throw notStatus();
  if (length.value > LONGEST_STATUS) {
    throw new QueryError('answer-too-long', 'The server announces more data than a game server should send.');
  }
  const id = readVarInt(received, length.end);
  if (id && id.value !== STATUS_PACKET) throw notStatus();
  const end = length.end + length.value;
  if (received.length < end) return undefined;
  const packet = received.subarray(0, end);
  const size = id && readVarInt(packet, id.end);
  if (!size || size.end + size.value > end) throw notStatus();
  // Mods append more data.
  return saidByStatus(parsed(packet.toString('utf8', size.end, size.end + size.value)));
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw notStatus();
  }
}

/** Some servers hide their players, and some have no message. */
function saidByStatus(status: unknown): UncheckedAnswer {
  const { version, players, description, favicon: icon } = fieldsOf(status);
  if (version === undefined && players === undefined && description === undefined) throw notStatus();
  const { online, max } = fieldsOf(players);
  return {
    name: legacyText(description),
    version: fieldsOf(version).name,
    // `sample` is a list of names in which many servers put adverts.
    players: online,
    maxPlayers: max,
    icon,
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const notStatus = () =>
  new QueryError('answer-broken', 'What the server sends is not a status of Minecraft Java.');

/** One to five bytes with seven bits each, lowest first. Every byte but the last is 128 or more. */
function readVarInt(bytes: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw notStatus();
}

function varInt(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function framed(packet: Buffer): Buffer {
  return Buffer.concat([varInt(packet.length), packet]);
}
