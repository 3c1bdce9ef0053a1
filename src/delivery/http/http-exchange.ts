import type { ClientRequest, IncomingMessage } from 'node:http';
import { type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable, readable } from '../../platform/printable.ts';
import type { SendOptions } from '../votifier/votifier-client.ts';
import { meaningOfRefusal, meaningOfStatus, retryAfterMs } from './http-answer.ts';
import type { HttpAnswer } from './http-challenge.ts';

/** Headers have Node's limit of 16 KiB: with less, an answer with long security policies would be ambiguous. */
const LONGEST_ANSWER = 4_096;

/** Of informational responses (HTTP 1xx) before the answer. */
const MOST_INFORMATION = 8;

/** One deadline applies to all of it, even if bytes arrive slowly. */
export async function exchange(
  request: ClientRequest,
  { body, readsBody = false }: { body: string; readsBody?: boolean },
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
    const read = answered.then((response) => readAnswerFrom(response, readsBody, () => isLate));
    return await Promise.race([unanswered, read]);
  } finally {
    clearTimeout(timer);
    options.waitSignal?.removeEventListener('abort', onStop);
    request.destroy();
  }
}

/** The body of a success is read only with `readsBody`. */
async function readAnswerFrom(
  response: IncomingMessage,
  readsBody: boolean,
  isLate: () => boolean,
): Promise<HttpAnswer> {
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
  return { result: refused, status, said };
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
    // The status was received already: only the rest of the message is missing.
  }
  return Buffer.concat(pieces).subarray(0, LONGEST_ANSWER);
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
