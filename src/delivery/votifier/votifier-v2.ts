import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { type ForwardedVote, VOTER_ADDRESS } from '../vote-message.ts';

const MAGIC = 0x733a;
const HEADER_BYTES = 4;

/** NuVotifier discards a longer one, header included. */
const LONGEST_FRAME = 1_024;

export function tokenKey(token: string): KeyObject {
  return createSecretKey(token, 'utf8');
}

/** The only message of Votifier v2: a magic number, the length, and JSON with the payload as text and its HMAC. */
export function v2Frame(
  vote: ForwardedVote,
  { serviceName, key, challenge }: { serviceName: string; key: KeyObject; challenge: string },
): Buffer | 'frame-too-long' {
  const payload = JSON.stringify({
    serviceName,
    username: vote.username,
    address: VOTER_ADDRESS,
    timestamp: vote.votedAt.getTime(),
    challenge,
    uuid: vote.id,
  });
  const signature = createHmac('sha256', key).update(payload, 'utf8').digest('base64');
  const message = Buffer.from(JSON.stringify({ payload, signature }), 'utf8');
  if (HEADER_BYTES + message.length > LONGEST_FRAME) return 'frame-too-long';

  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(MAGIC, 0);
  header.writeUInt16BE(message.length, 2);
  return Buffer.concat([header, message]);
}

export function startsLikeV2(bytes: Buffer): boolean {
  return bytes.readUInt16BE(0) === MAGIC;
}

/** The text is untrusted: show it with printable.ts only. */
export type VotifierReply =
  | { status: 'ok' }
  | { status: 'error'; text: string }
  /** Not JSON, or JSON that says neither `ok` nor `error`. */
  | { status: 'garbage'; text: string };

const LONGEST_REPLY = 4_096;

/**
 * Reads an answer from all bytes received so far. It is one JSON object and ends with its last brace, so no line feed
 * and no end of the connection is awaited. Bytes after the object are ignored.
 */
export function readVotifierReply(received: Buffer): VotifierReply | 'incomplete' {
  const bytes = received.subarray(0, LONGEST_REPLY);
  const text = bytes.toString('utf8').trimStart();
  const end = text.startsWith('{') ? objectEnd(text) : text.indexOf('\n');
  if (end !== -1) return parseReply(text.slice(0, end + 1));
  return received.length < LONGEST_REPLY ? 'incomplete' : { status: 'garbage', text };
}

/** The brace that closes the object at the beginning of `text`, or -1. Braces in strings do not count. */
function objectEnd(text: string): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function parseReply(text: string): VotifierReply {
  const answer = parseObject(text);
  if (answer?.status === 'ok') return { status: 'ok' };
  if (answer?.status === 'error') return { status: 'error', text: errorText(answer) || text };
  return { status: 'garbage', text };
}

const KEYS = ['status', 'cause', 'error', 'errorMessage'];

/** Listeners in Go send `Status`. The exact name takes precedence. */
function inAnyCase(object: object, key: string): unknown {
  if (Object.hasOwn(object, key)) return object[key as keyof object];
  return Object.entries(object).find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.fromEntries(KEYS.map((key) => [key, inAnyCase(value, key)]));
  } catch {
    return undefined;
  }
}

/** NuVotifier sends `cause` and, unless its plugin failed, `error`; others `errorMessage`. */
function errorText({ cause, error, errorMessage }: Record<string, unknown>): string {
  const texts = [cause, error, errorMessage].filter((text) => typeof text === 'string' && text.trim() !== '');
  return [...new Set(texts)].join(': ');
}

/** Error texts of known listeners; the first match decides: “unknown service” repeats a name with any later word. */
const MEANINGS: [RegExp, OutcomeCode][] = [
  [/only accepts well-formed votifier v2|v1 protocol is disabled/i, 'v2-only'],
  [/unknown service|no token configured for service/i, 'unknown-service'],
  [/adjusted frame length exceeds/i, 'frame-too-long'],
  [/username too long/i, 'name-too-long'],
  [/\bchallenge\b/i, 'challenge-refused'],
  [/\bsignature\b/i, 'bad-signature'],
  [/\bdecrypt/i, 'key-invalid'],
];

/** A player called “signature” must not be able to pause the listener: a pattern that matches the name is ignored. */
export function meaningOfError(text: string, username: string): OutcomeCode {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text) && !pattern.test(username));
  return meaning?.[1] ?? 'unknown-error';
}
