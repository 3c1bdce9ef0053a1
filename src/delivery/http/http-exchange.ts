import type { ClientRequest, IncomingMessage } from 'node:http';
import { type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable, readable } from '../../platform/printable.ts';
import { answerMsOf, type SendOptions } from '../votifier/votifier-client.ts';
import { leadsToSignIn, meaningOfStatus, retryAfterMs, wantsTls } from './http-answer.ts';
import type { Answer } from './http-challenge.ts';

/**
 * At most this much of an answer's body is read. Node limits headers to 16 KiB; a smaller limit would make the 200 of a
 * site with long policies ambiguous.
 */
const LONGEST_ANSWER = 4_096;

/** Informational responses (HTTP 1xx) before the answer; a listener that sends more of them ends the attempt. */
const MOST_INFORMATION = 8;

/** Sends the request and waits for its status, with one deadline for all of it, however slowly bytes arrive. */
export async function exchange(
  request: ClientRequest,
  { body, readsBody = false }: { body: string; readsBody?: boolean },
  options: SendOptions,
): Promise<Answer> {
  const { promise: unanswered, resolve } = Promise.withResolvers<Answer>();
  const endWith = (code: OutcomeCode, words = '') =>
    resolve({ result: outcome(code, 'written', printable(words)), status: 0, said: '' });
  const { promise: answered, resolve: answer } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  let informed = 0;
  const stop = (code: OutcomeCode) => (response ? response.destroy() : endWith(code));
  const onStop = () => stop('stopped-while-waiting');
  // A busy process may notice the deadline much later, with an answer that came in time still unread.
  let isLate = false;
  const giveUp = () => {
    isLate = true;
    stop('no-answer');
  };
  const timer = setTimeout(() => setImmediate(giveUp), answerMsOf(options));
  options.waitSignal?.addEventListener('abort', onStop);
  request
    // The connection is paused between two reads.
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
    // Never removed: an error while nothing waits must not become an uncaught exception.
    .on('error', (error) => endWith(brokenCode(error), wordsOf(error)));
  request.end(body);
  try {
    const read = answered.then((response) => readAnswerFrom(response, readsBody, () => isLate));
    return await Promise.race([unanswered, read]);
  } finally {
    clearTimeout(timer);
    options.waitSignal?.removeEventListener('abort', onStop);
    request.destroy();
  }
}

/** A success needs no body unless `readsBody`; of any other answer the first 4 KiB are read for its message. */
async function readAnswerFrom(
  response: IncomingMessage,
  readsBody: boolean,
  isLate: () => boolean,
): Promise<Answer> {
  const status = response.statusCode ?? 0;
  const meaning = meaningOfStatus(status);
  response.on('error', () => undefined);
  const isTaken = meaning === 'acknowledged';
  if (isTaken && !readsBody) return { result: outcome(meaning, 'acknowledged'), status, said: '' };
  const bytes = await firstBytes(response);
  const said = bytes.toString('utf8');
  if (isTaken) {
    const encoding = response.headers['content-encoding'];
    const body = { bytes, isLate: isLate(), ...(encoding ? { encoding } : {}) };
    return { result: outcome(meaning, 'acknowledged'), status, said, body };
  }
  const retry = retryAfterMs(response.headers['retry-after'], new Date());
  const { location } = response.headers;
  const code = exactly(meaning, { status, said, location });
  const refused = {
    ...outcome(code, 'written', printable(`HTTP ${status} ${readable(bytes)}`)),
    ...(meaning === 'http-redirected' && location
      ? { detail: printable(`The redirect leads to ${location}`) }
      : {}),
    ...(retry === null ? {} : { retryAfterMs: retry }),
  };
  return { result: refused, status, said };
}

/** The meaning of a refusal, where its body or its target says more than its status. */
function exactly(
  meaning: OutcomeCode,
  { status, said, location = '' }: { status: number; said: string; location?: string | undefined },
): OutcomeCode {
  if (meaning === 'http-redirected' && leadsToSignIn(location)) return 'http-sign-in';
  return wantsTls(status, said) ? 'tls-expected' : meaning;
}

async function firstBytes(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece);
      length += piece.length;
      if (length >= LONGEST_ANSWER) break;
    }
  } catch {
    // The status was received; only the message is missing.
  }
  return Buffer.concat(pieces).subarray(0, LONGEST_ANSWER);
}

/** What came in place of an HTTP answer; Node keeps it with its parser's errors. */
function wordsOf({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: unknown }): string {
  return code.startsWith('HPE_') && Buffer.isBuffer(rawPacket) ? readable(rawPacket) : '';
}

/** Node's parser errors have codes that begin with HPE; a normal close has no system call. */
function brokenCode({ code = '', syscall }: NodeJS.ErrnoException): OutcomeCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'http-headers-too-long';
  if (code.startsWith('HPE_')) return 'garbage-answer';
  if (code === 'ETIMEDOUT') return 'no-answer';
  return syscall === undefined && code === 'ECONNRESET' ? 'closed-without-answer' : 'reset';
}
