import { OUTCOMES, type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import { printable } from '../../platform/printable.ts';

const LONGEST_RETRY_AFTER_MS = HOUR;

/** See docs/delivery.md, "Outcomes". */
export function meaningOfStatus(status: number): OutcomeCode {
  if (status >= 200 && status < 300) return 'acknowledged';
  if (status >= 300 && status < 400) return 'http-redirected';
  switch (status) {
    case 401:
    case 403:
      return 'http-forbidden';
    case 404:
    case 410:
      return 'http-not-found';
    // The URL accepts no POST request, whatever the vote.
    case 405:
    case 501:
      return 'http-method-refused';
    case 408:
      return 'http-unavailable';
    case 429:
      return 'http-limited';
    default:
      if (status >= 500 && status < 600) return 'http-unavailable';
      return status >= 400 && status < 500 ? 'vote-refused' : 'garbage-answer';
  }
}

/** In the path or host of a redirect: such a URL needs a session, which no vote has. */
const SIGN_IN =
  /(?:^|[/.?&=_-])(?:log-?in|sign-?in|signin|sign_in|log_in|auth|oauth2?|sso|session|anmelden)(?:[/.?&=_-]|$)/i;

/** The answers of nginx, Apache and Go to a request without TLS at a TLS port. */
const WANTS_TLS =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled|HTTP request to an HTTPS server/i;

/** The body or the target of a redirect can show more than the status. */
export function meaningOfRefusal(status: number, said: string, location = ''): OutcomeCode {
  const meaning = meaningOfStatus(status);
  if (meaning === 'http-redirected' && SIGN_IN.test(location)) return 'http-sign-in';
  return status >= 400 && status < 500 && WANTS_TLS.test(said) ? 'tls-expected' : meaning;
}

/** Perhaps because of its player: HTTP 401 is about the signature; a redirect and 501 concern all votes. */
export function mayRefuseOne({ code }: Outcome, status: number): boolean {
  return OUTCOMES[code].mayBeOfOneVote === true && status !== 401 && status !== 501;
}

/** All votes may be refused: the vote waits, and the listener is paused. `challenge`: how one after it failed. */
export function asRefusalOfAll(refused: Outcome, challenge: Outcome | null = null): Outcome {
  return withChallenge(
    refused.class === 'vote-only' ? 'http-votes-refused' : refused.code,
    refused,
    challenge,
  );
}

/** It is not known now whether one vote or all are refused: the vote waits for its next attempt. */
export function asNotReady(refused: Outcome, challenge: Outcome): Outcome {
  return withChallenge('http-not-ready', refused, challenge);
}

function withChallenge(code: OutcomeCode, refused: Outcome, challenge: Outcome | null): Outcome {
  const failed = challenge && `A new challenge failed too: ${challenge.words ?? challenge.code}`;
  const detail = [refused.detail, failed].filter(Boolean).join('. ');
  return { ...refused, ...outcome(code, refused.reached), ...(detail ? { detail: printable(detail) } : {}) };
}

/** Of a website that takes votes, whatever the status: this vote fails. */
export function asRefusalOfOne(refused: Outcome): Outcome {
  return { ...refused, ...outcome('vote-refused', refused.reached) };
}

/** RFC 9110, 10.2.3: at most an hour; null if absent or unreadable. */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now.getTime();
  if (Number.isNaN(wait)) return null;
  return Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
