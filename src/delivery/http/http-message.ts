import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable, readable } from '../../platform/printable.ts';
import type { ForwardedVote } from '../vote-message.ts';

/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The same in every attempt. */
export function voteBody({ id, username, votedAt }: ForwardedVote, serverId: string): string {
  const data = { vote_id: id, server_id: serverId, username, voted_at: votedAt.toISOString() };
  return JSON.stringify({ type: 'vote.cast', data });
}

/** Standard Webhooks 1.0: the receiver accepts any of the signatures. A vote's `id` is the same in every attempt. */
export function signedHeaders(
  id: string,
  body: string,
  secrets: string[],
  now: Date,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

/** `id`: the header `webhook-id`. */
type Challenge = { id: string; challenge: string; body: string };

export type HttpAnswer = {
  result: Outcome;
  /** 0 when there was no answer. */
  status: number;
  /** Absent without an answer. */
  headers?: IncomingHttpHeaders;
  /** The beginning of the body as text. */
  said: string;
  /** As received; only for a success that was read with `readsBody`. */
  body?: ReceivedBody;
};

type ReceivedBody = {
  bytes: Buffer;
  encoding?: string;
  /** The end of the body did not arrive in time. */
  isLate: boolean;
};

/** 256 random bits, for one attempt. With `subscriptionId` it asks for the consent to events, not to votes. */
export function newChallenge(serverId: string, subscriptionId?: string): Challenge {
  const challenge = randomBytes(32).toString('base64url');
  const about = subscriptionId
    ? { type: 'subscription.challenge', data: { server_id: serverId, subscription_id: subscriptionId } }
    : { type: 'listener.challenge', data: { server_id: serverId } };
  const body = JSON.stringify({ ...about, data: { ...about.data, challenge } });
  return { id: randomUUID(), challenge, body };
}

/** As `{"challenge": "…"}` or alone as text: a website that only sends the request back has neither form. */
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

/** The first bytes of gzip and Zstandard. Other encodings have no such mark. */
const COMPRESSED = ['1f8b', '28b52ffd'];

/** What the owner must change about an answer that does not repeat the challenge as documented. */
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

/** What replaces a vote's outcome for a challenge: no vote was sent, so none can have arrived. */
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

/** Null when the challenge was repeated. */
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
