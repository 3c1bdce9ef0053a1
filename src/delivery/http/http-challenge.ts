import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable } from '../../platform/printable.ts';

/** A message that an HTTP listener must answer with the same challenge. */
export type Challenge = {
  /** `webhook-id`. */
  id: string;
  challenge: string;
  body: string;
};

/** The answer to a message: its status, 0 when there was none, and the beginning of the body. */
export type Answer = { end: Outcome; status: number; said: string };

/** Makes a challenge for an HTTP listener: 256 random bits, never used twice. */
export function newChallenge(serverId: string): Challenge {
  const challenge = randomBytes(32).toString('base64url');
  const data = { server_id: serverId, challenge };
  return { id: randomUUID(), challenge, body: JSON.stringify({ type: 'listener.challenge', data }) };
}

/**
 * Whether an answer's body repeats the challenge: `{"challenge": "…"}`, or the challenge alone as text. A site that echoes
 * the whole request does neither.
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

/** Outcomes that are ambiguous for a vote are not ambiguous here: no vote was sent. */
const NOTHING_SENT: Partial<Record<OutcomeCode, OutcomeCode>> = {
  'no-answer': 'too-slow',
  'closed-without-answer': 'closed-before-written',
  reset: 'closed-before-written',
  'garbage-answer': 'not-http',
  'vote-refused': 'http-unverified',
  'http-unavailable': 'http-not-ready',
  'stopped-while-waiting': 'stopped-before-written',
};

/** The outcome of an attempt whose challenge got this answer; null when the challenge was repeated. */
export function challengeEnd({ end, status, said }: Answer, challenge: Challenge): Outcome | null {
  if (end.class === 'delivered') {
    if (repeats(said, challenge)) return null;
    return outcome('http-unverified', 'greeted', printable(`HTTP ${status} ${said}`));
  }
  const { reached, words } = end;
  const code = NOTHING_SENT[end.code] ?? end.code;
  return { ...end, ...outcome(code, reached === 'written' ? 'greeted' : reached, words) };
}
