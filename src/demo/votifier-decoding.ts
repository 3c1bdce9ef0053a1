import { constants, createHmac, type KeyObject, privateDecrypt, timingSafeEqual } from 'node:crypto';
import { CodedError } from '../platform/app-error.ts';

/** A vote as a listener decoded it. */
export type ReceivedVote = {
  protocol: 'v1' | 'v2';
  serviceName: string;
  username: string;
  address: string;
  /** In v1 the text of the fifth line, in v2 a number of milliseconds. */
  timestamp: string | number;
  /** The vote's id; only in v2, and only if the sender sent one. */
  uuid?: string;
  receivedAt: Date;
};

/** Why a vote is refused: `code` names a Java exception, and most messages are NuVotifier's own. */
export class VoteRefusal extends CodedError<string> {}

const corrupted = (message: string) => new VoteRefusal('CorruptedFrameException', message);

/** As NuVotifier does, and text as US-ASCII. A longer block than 256 bytes is refused by the decryption. */
export function readV1Vote(received: Buffer, privateKey: KeyObject): ReceivedVote | 'incomplete' {
  if (received.length < 256) return 'incomplete';
  const [opcode, serviceName, username, address, timestamp] = decryptText(received, privateKey).split('\n');
  if (timestamp === undefined) throw corrupted('Not enough fields specified in vote.');
  if (opcode !== 'VOTE') throw corrupted('VOTE opcode not found');
  return {
    protocol: 'v1',
    serviceName: serviceName ?? '',
    username: username ?? '',
    address: address ?? '',
    timestamp,
    receivedAt: new Date(),
  };
}

function decryptText(block: Buffer, privateKey: KeyObject): string {
  try {
    const text = privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, block);
    return Array.from(text, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : '\u{fffd}')).join('');
  } catch {
    throw corrupted('Could not decrypt data (is your key correct?)');
  }
}

type V2Checks = { challenge: string; tokens: Record<string, string> };

/** As NuVotifier does, with the same checks in the same order. */
export function readV2Vote(received: Buffer, { challenge, tokens }: V2Checks): ReceivedVote | 'incomplete' {
  if (received.length < 4) return 'incomplete';
  const frameLength = 4 + received.readUInt16BE(2);
  if (frameLength > 1_024) {
    throw new VoteRefusal(
      'TooLongFrameException',
      `Adjusted frame length exceeds 1024: ${frameLength} - discarded`,
    );
  }
  if (received.length < frameLength) return 'incomplete';

  const message = jsonObject(received.toString('utf8', 4, frameLength));
  const payloadText = string(message, 'payload');
  const payload = jsonObject(payloadText);
  if (string(payload, 'challenge') !== challenge) throw corrupted('Challenge is not valid');

  const serviceName = string(payload, 'serviceName');
  const token = Object.hasOwn(tokens, serviceName) ? tokens[serviceName] : tokens.default;
  if (token === undefined) throw new VoteRefusal('RuntimeException', `Unknown service '${serviceName}'`);
  const expected = createHmac('sha256', token).update(payloadText).digest();
  const signature = Buffer.from(string(message, 'signature'), 'base64');
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    throw corrupted('Signature is not valid (invalid token?)');
  }

  const uuid = 'uuid' in payload ? uuidText(string(payload, 'uuid')) : undefined;
  const username = string(payload, 'username');
  if (username.length > 16) throw corrupted('Username too long');
  return {
    protocol: 'v2',
    serviceName,
    username,
    address: string(payload, 'address'),
    timestamp: wholeNumber(payload, 'timestamp'),
    ...(uuid === undefined ? {} : { uuid }),
    receivedAt: new Date(),
  };
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw new VoteRefusal('JsonSyntaxException', 'Not a JSON object');
}

function string(object: Record<string, unknown>, key: string): string {
  const value = object[key];
  if (typeof value !== 'string') throw new VoteRefusal('IllegalStateException', `${key} is not a string`);
  return value;
}

function wholeNumber(object: Record<string, unknown>, key: string): number {
  const value = object[key];
  if (!Number.isSafeInteger(value))
    throw new VoteRefusal('NumberFormatException', `${key} is not a whole number`);
  return Number(value);
}

function uuidText(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new VoteRefusal('IllegalArgumentException', `Invalid UUID string: ${text}`);
}
