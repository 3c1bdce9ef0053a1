import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable, readable } from '../../platform/printable.ts';

/** A message that an HTTP listener must answer by repeating the challenge. */
type Challenge = {
  /** The value of the header `webhook-id`. */
  id: string;
  challenge: string;
  body: string;
};

/** The answer to a message: its outcome, its status (0 when there was none) and the beginning of the body as text. */
export type HttpAnswer = {
  result: Outcome;
  status: number;
  said: string;
  /** The beginning of the body as received; only for a success that was read with `readsBody`. */
  body?: ReceivedBody;
};

type ReceivedBody = {
  bytes: Buffer;
  /** `Content-Encoding`; absent if there is none. */
  encoding?: string;
  /** Whether the end of the body did not arrive in time. */
  isLate: boolean;
};

/** Makes a challenge for an HTTP listener: 256 random bits, for one attempt. */
export function newChallenge(serverId: string): Challenge {
  const challenge = randomBytes(32).toString('base64url');
  const data = { server_id: serverId, challenge };
  return { id: randomUUID(), challenge, body: JSON.stringify({ type: 'listener.challenge', data }) };
}

/**
 * Whether an answer's body repeats the challenge: `{"challenge": "…"}`, or the challenge alone as text. If a website
 * only sends the whole request back, the answer has neither form.
 */
export function repeats(said: string, { challenge }: Challenge): boolean {
  const text = said.trim();
  const given = text.startsWith('{') ? challengeIn(text) : text;
  const [a, b] = [Buffer.from(given), Buffer.from(challenge)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function challengeIn(json: string): string {
  try {
    const { challenge } = JSON.parse(json);
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

/** The first bytes of gzip and Zstandard, in hexadecimal. Other encodings have no such mark. */
const COMPRESSED = ['1f8b', '28b52ffd'];

/** The outcome if an answer does not repeat the challenge as documented. It tells the owner what to change. */
function formOf({ bytes, encoding = '', isLate }: ReceivedBody, { challenge }: Challenge): OutcomeCode {
  if (isLate) return 'too-slow';
  const isMarked = COMPRESSED.some((mark) => bytes.toString('hex', 0, 4).startsWith(mark));
  if (isMarked || !/^(?:identity)?$/i.test(encoding.trim())) return 'challenge-compressed';
  const text = bytes.toString('utf8');
  const utf16 = Buffer.from(challenge, 'utf16le');
  // `swap16` turns the text into big-endian UTF-16.
  if (bytes.includes(utf16) || bytes.includes(utf16.swap16())) return 'challenge-utf16';
  if (!text.includes(challenge)) return 'http-unverified';
  const quoted = text.trim().match(/^(["'`])(.*)\1;?$/s);
  return quoted?.[2]?.trim() === challenge ? 'challenge-quoted' : 'challenge-surrounded';
}

/** Outcomes of a vote, and what replaces each for a challenge: no vote was sent, so none can have arrived. */
const NOTHING_SENT: Partial<Record<OutcomeCode, OutcomeCode>> = {
  'no-answer': 'too-slow',
  'closed-without-answer': 'closed-before-written',
  reset: 'closed-before-written',
  'garbage-answer': 'not-http',
  'http-upgraded': 'challenge-upgraded',
  'http-headers-too-long': 'challenge-headers-too-long',
  'http-limited': 'challenge-limited',
  'vote-refused': 'http-challenge-refused',
  'http-unavailable': 'http-not-ready',
  'stopped-while-waiting': 'stopped-before-written',
};

/** The outcome of an attempt whose challenge got this answer; null when the challenge was repeated. */
export function challengeOutcome(
  { result, status, said, body }: HttpAnswer,
  challenge: Challenge,
): Outcome | null {
  if (result.class === 'delivered') {
    if (repeats(said, challenge)) return null;
    const code = body ? formOf(body, challenge) : 'http-unverified';
    return outcome(code, 'greeted', printable(`HTTP ${status} ${body ? readable(body.bytes) : said}`));
  }
  const { reached, words } = result;
  const code = NOTHING_SENT[result.code] ?? result.code;
  return { ...result, ...outcome(code, reached === 'written' ? 'greeted' : reached, words) };
}
