import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { OPTIONAL_MS, optional } from '../optional-question.ts';
import type { OwnProtocol } from '../own-protocol.ts';
import type { UncheckedAnswer } from '../read-answer.ts';

/** Where they differ from those of San Andreas Multiplayer. */
const MAGIC: Record<string, { question: string; answer: string }> = {
  vcmp: { question: 'VCMP', answer: 'MP04' },
};
const SAMP = { question: 'SAMP', answer: 'SAMP' };

/** Magic, address, port and the question's letter. An answer has its own magic, and repeats the rest. */
const HEADER_BYTES = 11;

/**
 * San Andreas Multiplayer, open.mp or Vice City Multiplayer (question `i`). In the first two the version is among the
 * rules (question `r`), which some servers do not send.
 */
export const askSamp: OwnProtocol = async ({ server, game }, connections) => {
  const { question, answer } = MAGIC[game.protocol] ?? SAMP;
  const isVcmp = game.protocol === 'vcmp';
  const format = textFormatOf(game);
  const ask = <T>(letter: string, read: (body: Buffer) => T | undefined, timeoutMs?: number) => {
    const bytes = questionBytes(question, server.address, server.port, letter);
    const expected = Buffer.concat([Buffer.from(answer), bytes.subarray(4)]);
    return connections.askDatagram(
      bytes,
      (datagram) =>
        datagram.subarray(0, HEADER_BYTES).equals(expected)
          ? read(datagram.subarray(HEADER_BYTES))
          : undefined,
      timeoutMs,
    );
  };
  const said = await ask('i', (body) => readInfo(body, format, isVcmp));
  if (isVcmp) return said;
  const rules = await optional(ask('r', (body) => readRules(body, format), OPTIONAL_MS));
  return { ...said, version: rules?.get('version') };
};

/** It has room for IPv4 only; for an IPv6 server the field is wrong, but no server checks it. */
function questionBytes(magic: string, address: string, port: number, letter: string): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write(magic, 0, 'latin1');
  for (const [index, part] of address.split('.').slice(0, 4).entries()) {
    bytes.writeUInt8((Number(part) || 0) & 0xff, 4 + index);
  }
  bytes.writeUInt16LE(port, 8);
  bytes.write(letter, 10, 'latin1');
  return bytes;
}

/**
 * `i`: password, players, limit, then the length of the name and the name; for Vice City, a version of 12 bytes comes
 * first. Undefined if it ends before the name.
 */
export function readInfo(body: Buffer, format: TextFormat, isVcmp: boolean): UncheckedAnswer | undefined {
  const start = isVcmp ? 12 : 0;
  if (body.length < start + 9) return undefined;
  const nameAt = start + 9;
  const nameBytes = body.subarray(nameAt, nameAt + body.readUInt32LE(start + 5));
  return {
    name: decodeText(nameBytes, format).trim(),
    version: isVcmp ? (body.toString('latin1', 0, 12).split('\0')[0] ?? '') : '',
    players: body.readUInt16LE(start + 1),
    maxPlayers: body.readUInt16LE(start + 3),
  };
}

/** `r`: the number of rules, then name and value of each, after their lengths. */
export function readRules(body: Buffer, format: TextFormat): Map<string, string> {
  const texts: string[] = [];
  for (let at = 2; at < body.length; ) {
    const end = at + 1 + body.readUInt8(at);
    texts.push(decodeText(body.subarray(at + 1, end), format));
    at = end;
  }
  const rules = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    rules.set((texts[index] ?? '').toLowerCase(), texts[index + 1] ?? '');
  }
  return rules;
}
