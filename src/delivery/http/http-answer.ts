import type { ClientRequest, IncomingMessage } from 'node:http';
import { OUTCOMES, type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import { printable, readable } from '../../platform/printable.ts';
import type { SendOptions } from '../votifier/votifier-client.ts';
import type { HttpAnswer } from './http-message.ts';

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

/** Headers have Node's limit of 16 KiB: with less, an answer with long security policies would be ambiguous. */
const LONGEST_ANSWER = 4_096;

/** Of informational responses (HTTP 1xx) before the answer. */
const MOST_INFORMATION = 8;

/** The body of a success is read only with `readsBody`. */
type Reading = { readsBody?: boolean; mostBytes?: number };

/** One deadline applies to all of it, even if bytes arrive slowly. */
export async function exchange(
  request: ClientRequest,
  { body, readsBody = false, mostBytes = LONGEST_ANSWER }: Reading & { body: string },
  options: SendOptions,
): Promise<HttpAnswer> {
  const { promise: unanswered, resolve } = Promise.withResolvers<HttpAnswer>();
  const endWith = (code: OutcomeCode, words = '') =>
    resolve({ result: outcome(code, 'written', printable(words)), status: 0, said: '' });
  const { promise: answered, resolve: answer } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  let informed = 0;
  const stop = (code: OutcomeCode) => (response ? response.destroy() : endWith(code));
  const onStop = () => stop('stopped-while-waiting');
  // The wait ends one turn of the event loop later: in a busy process, an answer in time may still be unread.
  let isLate = false;
  const giveUp = () => {
    isLate = true;
    stop('no-answer');
  };
  const timer = setTimeout(() => setImmediate(giveUp), options.answerMs ?? options.timeoutMs);
  options.waitSignal?.addEventListener('abort', onStop);
  request
    // A `PeerConnection` is paused between two reads, so its socket is resumed for Node's HTTP client.
    .on('socket', (socket) => socket.resume())
    .on('information', ({ statusCode }) => {
      informed += 1;
      if (informed <= MOST_INFORMATION) return;
      endWith('garbage-answer', `HTTP ${statusCode}`);
      request.destroy();
    })
    .on('response', (received) => {
      response = received;
      answer(received);
    })
    .on('upgrade', (_response, socket) => {
      socket.destroy();
      endWith('http-upgraded', 'HTTP 101 Switching Protocols');
    })
    // The handler is never removed: an error that comes later would be an uncaught exception.
    .on('error', (error) => endWith(brokenCode(error), wordsOf(error)));
  request.end(body);
  try {
    const read = answered.then((response) =>
      readAnswerFrom(response, { readsBody, mostBytes }, () => isLate),
    );
    return await Promise.race([unanswered, read]);
  } finally {
    clearTimeout(timer);
    options.waitSignal?.removeEventListener('abort', onStop);
    request.destroy();
  }
}

async function readAnswerFrom(
  response: IncomingMessage,
  { readsBody, mostBytes }: Required<Reading>,
  isLate: () => boolean,
): Promise<HttpAnswer> {
  const status = response.statusCode ?? 0;
  const { headers } = response;
  const meaning = meaningOfStatus(status);
  response.on('error', () => undefined);
  const isTaken = meaning === 'acknowledged';
  if (isTaken && !readsBody) return { result: outcome(meaning, 'acknowledged'), status, headers, said: '' };
  const bytes = await firstBytes(response, mostBytes);
  const said = bytes.toString('utf8');
  if (isTaken) {
    const encoding = headers['content-encoding'];
    const body = { bytes, isLate: isLate(), ...(encoding ? { encoding } : {}) };
    return { result: outcome(meaning, 'acknowledged'), status, headers, said, body };
  }
  const retry = retryAfterMs(headers['retry-after'], new Date());
  const { location } = headers;
  // A website that says when to come again has not failed: it limits its requests.
  const isPostponed = status === 503 && retry !== null;
  const code = isPostponed ? 'http-limited' : meaningOfRefusal(status, said, location);
  const refused = {
    ...outcome(code, 'written', printable(`HTTP ${status} ${readable(bytes)}`)),
    ...(meaning === 'http-redirected' && location
      ? { detail: printable(`The redirect leads to ${location}`) }
      : {}),
    ...(retry === null ? {} : { retryAfterMs: retry }),
  };
  return { result: refused, status, headers, said };
}

async function firstBytes(response: IncomingMessage, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece);
      length += piece.length;
      if (length >= most) break;
    }
  } catch {
    // The status was received already: only the rest of the message is missing.
  }
  return Buffer.concat(pieces).subarray(0, most);
}

/** What came in place of an HTTP answer is in the errors of Node's parser. */
function wordsOf({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: unknown }): string {
  return code.startsWith('HPE_') && Buffer.isBuffer(rawPacket) ? readable(rawPacket) : '';
}

/** The codes of Node's HTTP parser begin with `HPE_`. After a normal close, the error has no `syscall`. */
function brokenCode({ code = '', syscall }: NodeJS.ErrnoException): OutcomeCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'http-headers-too-long';
  if (code.startsWith('HPE_')) return 'garbage-answer';
  if (code === 'ETIMEDOUT') return 'no-answer';
  return syscall === undefined && code === 'ECONNRESET' ? 'closed-without-answer' : 'reset';
}
