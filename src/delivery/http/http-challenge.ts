import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable } from '../../platform/printable.ts';

/** A message that an HTTP listener has to answer with the same challenge. */
export type Challenge = {
  /** `webhook-id`. */
  id: string;
  challenge: string;
  body: string;
};

/** How a message was answered: its status, 0 where none came, and the beginning of the body. */
export type Answer = { end: Outcome; status: number; said: string };

/** Makes a challenge for an HTTP listener: 256 random bits, never used twice. */
export function newChallenge(serverId: string): Challenge {
  const challenge = randomBytes(32).toString('base64url');
  const data = { server_id: serverId, challenge };
  return { id: randomUUID(), challenge, body: JSON.stringify({ type: 'listener.challenge', data }) };
}

/**
 * Whether an answer's body repeats the challenge: `{"challenge": "…"}`, or the challenge alone as text. A site that
 * sends back whatever it is sent does neither.
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

/** Ends that would leave a vote's deliveries open say less here: no vote was sent. */
const NOTHING_SENT: Partial<Record<OutcomeCode, OutcomeCode>> = {
  'no-answer': 'too-slow',
  'closed-without-answer': 'closed-before-written',
  reset: 'closed-before-written',
  'garbage-answer': 'not-http',
  'vote-refused': 'http-unverified',
  'http-unavailable': 'http-not-ready',
  'stopped-while-waiting': 'stopped-before-written',
};

/** How an attempt ended whose challenge was answered so; null when the challenge was met. */
export function challengeEnd({ end, status, said }: Answer, challenge: Challenge): Outcome | null {
  if (end.class === 'delivered') {
    if (repeats(said, challenge)) return null;
    return outcome('http-unverified', 'greeted', printable(`HTTP ${status} ${said}`));
  }
  const { reached, words } = end;
  const code = NOTHING_SENT[end.code] ?? end.code;
  return { ...end, ...outcome(code, reached === 'written' ? 'greeted' : reached, words) };
}
