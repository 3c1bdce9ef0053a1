import http, { type IncomingMessage } from 'node:http';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { printable, readable } from '../../platform/printable.ts';
import { deadlineIn, dial, type PeerConnection, resolveListener } from '../connection.ts';
import { secure, speaksTls } from '../tls.ts';
import { assertSendable, type ForwardedVote } from '../vote-message.ts';
import { answerMsOf, type SendOptions, type SendResult } from '../votifier/votifier-client.ts';
import { leadsToSignIn, meaningOfStatus, retryAfterMs, wantsTls } from './http-answer.ts';
import { type Answer, challengeEnd, newChallenge } from './http-challenge.ts';
import { signedHeaders, voteBody } from './http-message.ts';
import { portOf } from './url-port.ts';

/** The settings of an HTTP listener, with its secrets opened. */
export type HttpTarget = {
  protocol: 'http';
  url: string;
  /** 24 hexadecimal digits: the message contains the server's id. */
  serverId: string;
  /** The signing secret, `whsec_…`. */
  secret: string;
  /** The secret before the last rotation; until `until`, messages are signed with it too. */
  previous: { secret: string; until: Date } | null;
};

/**
 * How much of an answer's body is read at most. Headers have no limit here but Node's 16 KiB: with a smaller limit, the
 * 200 of a website with long policy headers would become ambiguous.
 */
const LONGEST_ANSWER = 4_096;

/** How many informational responses (HTTP 1xx) may precede the answer; with one more, the attempt ends. */
const MOST_INFORMATION = 8;

/**
 * Makes one attempt to post a vote to an HTTP listener: resolves and checks the address, connects, performs the TLS
 * handshake for https, posts one signed message and waits for the status. Redirects are not followed. Before the first
 * byte is written, the vote cannot have arrived; after that, only an answer shows whether it arrived.
 *
 * @param now - the timestamp of the signature: the receiver refuses one that differs by minutes from its own clock
 * @throws {TypeError} when the vote can never be sent (`assertSendable`), which is an error of the caller
 */
export async function postVote(
  target: HttpTarget,
  vote: ForwardedVote,
  options: SendOptions,
  now: Date,
): Promise<SendResult> {
  assertSendable(vote, 'http');
  const began = performance.now();
  const end = await attempt(target, vote, options, now);
  return { ...end, durationMs: Math.round(performance.now() - began) };
}

async function attempt(
  target: HttpTarget,
  vote: ForwardedVote,
  options: SendOptions,
  now: Date,
): Promise<Outcome> {
  const url = new URL(target.url);
  const { destination } = options;
  const plain = await resolveAndConnect(url, options);
  if ('code' in plain) return plain;
  const address = plain.socket.remoteAddress ?? '';
  const secrets = secretsAt(target, now);
  const message = signed(vote.id, voteBody(vote, target.serverId), secrets, now);
  if (!destination?.mustChallenge)
    return tlsExpected((await postOver(plain, url, message, options)).end, url, address, options);

  const challenge = newChallenge(target.serverId);
  const { id, body } = challenge;
  const answer = await postOver(plain, url, { ...signed(id, body, secrets, now), readsBody: true }, options);
  const refused = challengeEnd(answer, challenge);
  if (refused) return tlsExpected(refused, url, address, options);
  destination.challengeMet();
  const unwatched = { ...options, onStep: undefined };
  // Connects only to the address that repeated the challenge, not to another address of the same host.
  const again = await connectTo([destination.address], url, unwatched);
  return 'code' in again ? again : (await postOver(again, url, message, unwatched)).end;
}

/**
 * Posts one JSON message to a URL with the checks, deadlines and limits of a vote. Never throws for anything that the
 * server does.
 */
export async function postJson(url: URL, body: string, options: SendOptions): Promise<Answer> {
  const plain = await resolveAndConnect(url, options);
  if ('code' in plain) return { end: plain, status: 0, said: '' };
  return postOver(plain, url, { headers: {}, body }, options);
}

/** How a TLS port ends a request without TLS: it closes the connection, or sends a TLS alert, which is not HTTP. */
const LIKE_TLS: ReadonlySet<OutcomeCode> = new Set([
  'closed-without-answer',
  'closed-before-written',
  'reset',
  'garbage-answer',
  'not-http',
]);

/**
 * The outcome of a request to an `http://` URL. If the connection ended like at a TLS port, one more connection tests
 * whether the port speaks TLS. If it does, the request was not read.
 */
async function tlsExpected(end: Outcome, url: URL, address: string, options: SendOptions): Promise<Outcome> {
  if (url.protocol !== 'http:' || !LIKE_TLS.has(end.code)) return end;
  const stop = options.signal;
  const waiting = deadlineIn(options.timeoutMs, stop);
  const again = await dial([address], portOf(url), waiting, options.destination?.mayConnect);
  if (typeof again === 'string') return end;
  try {
    return (await speaksTls(again, waiting)) ? outcome('tls-expected', 'connected', end.words) : end;
  } finally {
    again.destroy();
  }
}

async function resolveAndConnect(url: URL, options: SendOptions): Promise<PeerConnection | Outcome> {
  const addresses = await resolveListener(url.hostname.replace(/^\[|\]$/g, ''), options);
  if (!Array.isArray(addresses)) return addresses;
  options.onStep?.('connecting');
  return connectTo(addresses, url, options);
}

async function connectTo(
  addresses: string[],
  url: URL,
  options: SendOptions,
): Promise<PeerConnection | Outcome> {
  const waiting = deadlineIn(options.timeoutMs, options.signal);
  const plain = await dial(addresses, portOf(url), waiting, options.destination?.mayConnect);
  return typeof plain === 'string' ? outcome(plain, 'resolved') : plain;
}

async function handshake(
  plain: PeerConnection,
  host: string,
  options: SendOptions,
): Promise<PeerConnection | Outcome> {
  const secured = await secure(plain.socket, host, deadlineIn(options.timeoutMs, options.signal));
  if (!('fault' in secured)) return secured;
  const { fault, detail } = secured;
  return { ...outcome(fault, 'connected'), ...(detail ? { detail: printable(detail) } : {}) };
}

function secretsAt({ secret, previous }: HttpTarget, now: Date): string[] {
  return previous && now < previous.until ? [secret, previous.secret] : [secret];
}

type Message = {
  /** The headers with the signature. */
  headers: Record<string, string>;
  body: string;
  /** Whether the body of a successful answer is read too. */
  readsBody?: boolean;
};

function signed(id: string, body: string, secrets: string[], now: Date): Message {
  return { headers: signedHeaders(id, body, secrets, now), body };
}

/** Posts one message over a connection and closes it. */
async function postOver(
  plain: PeerConnection,
  url: URL,
  message: Message,
  options: SendOptions,
): Promise<Answer> {
  const unanswered = (end: Outcome): Answer => ({ end, status: 0, said: '' });
  try {
    options.onStep?.('greeting');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const connection = url.protocol === 'https:' ? await handshake(plain, host, options) : plain;
    if ('code' in connection) return unanswered(connection);
    const obstacle = await whatIsInTheWay(connection, options);
    if (obstacle) return unanswered(obstacle);
    options.onStep?.('acknowledgement');
    return await readStatusFrom(requestOver(connection, url, message), message, options);
  } finally {
    plain.destroy();
  }
}

/**
 * Reads what the website sent before the request, and returns the outcome if nothing may be written now; otherwise
 * null.
 */
async function whatIsInTheWay(connection: PeerConnection, options: SendOptions): Promise<Outcome | null> {
  const early = await connection.readArrived();
  if (early.kind === 'bytes') return outcome('not-http', 'connected', readable(early.bytes));
  if (early.kind === 'closed' || early.kind === 'broken')
    return outcome('closed-before-written', 'connected');
  if (options.signal?.aborted || options.waitSignal?.aborted)
    return outcome('stopped-before-written', 'greeted');
  return options.mayWrite() ? null : outcome('our-fault', 'greeted');
}

function requestOver(connection: PeerConnection, url: URL, { headers, body }: Message): http.ClientRequest {
  return http.request({
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: '*/*',
      // The body is read without decompression. If a website compresses it all the same, the outcome says so.
      'accept-encoding': 'identity',
      'user-agent': 'Tallyport',
      connection: 'close',
      ...headers,
    },
    // No agent: this connection was checked and is used once.
    createConnection: () => connection.socket,
  });
}

/** Sends the request and waits for its status, with one deadline for all of it, however slowly bytes arrive. */
async function readStatusFrom(
  request: http.ClientRequest,
  { body, readsBody = false }: Message,
  options: SendOptions,
): Promise<Answer> {
  const { promise: unanswered, resolve } = Promise.withResolvers<Answer>();
  const end = (code: OutcomeCode, words = '') =>
    resolve({ end: outcome(code, 'written', printable(words)), status: 0, said: '' });
  const { promise: answered, resolve: answer } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  let informed = 0;
  const stop = (code: OutcomeCode) => (response ? response.destroy() : end(code));
  const onStop = () => stop('stopped-while-waiting');
  // If the process is busy, it notices the deadline late, and an answer that came in time may still be unread.
  let isLate = false;
  const giveUp = () => {
    isLate = true;
    stop('no-answer');
  };
  const timer = setTimeout(() => setImmediate(giveUp), answerMsOf(options));
  options.waitSignal?.addEventListener('abort', onStop);
  request
    // The socket is paused between two reads; Node's parser needs it flowing.
    .on('socket', (socket) => socket.resume())
    .on('information', ({ statusCode }) => {
      informed += 1;
      if (informed <= MOST_INFORMATION) return;
      end('garbage-answer', `HTTP ${statusCode}`);
      request.destroy();
    })
    .on('response', (received) => {
      response = received;
      answer(received);
    })
    .on('upgrade', (_response, socket) => {
      socket.destroy();
      end('http-upgraded', 'HTTP 101 Switching Protocols');
    })
    // Never removed: without a listener, an error after the answer would be an uncaught exception.
    .on('error', (error) => end(brokenCode(error), wordsOf(error)));
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

/**
 * Reads the answer. The body of a success is skipped unless `readsBody`. From any other answer the first 4 KiB are
 * read, because they may contain a message.
 */
async function readAnswerFrom(
  response: IncomingMessage,
  readsBody: boolean,
  isLate: () => boolean,
): Promise<Answer> {
  const status = response.statusCode ?? 0;
  const meaning = meaningOfStatus(status);
  response.on('error', () => undefined);
  const isTaken = meaning === 'acknowledged';
  if (isTaken && !readsBody) return { end: outcome(meaning, 'acknowledged'), status, said: '' };
  const bytes = await firstBytes(response);
  const said = bytes.toString('utf8');
  if (isTaken) {
    const encoding = response.headers['content-encoding'];
    const body = { bytes, isLate: isLate(), ...(encoding ? { encoding } : {}) };
    return { end: outcome(meaning, 'acknowledged'), status, said, body };
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
  return { end: refused, status, said };
}

/** A more precise outcome of a refusal, if its body or its redirect target says more than its status. */
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
    // The connection broke after the status; only the message is incomplete.
  }
  return Buffer.concat(pieces).subarray(0, LONGEST_ANSWER);
}

/** The bytes that came instead of an HTTP answer: Node's parser errors contain them. */
function wordsOf({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: unknown }): string {
  return code.startsWith('HPE_') && Buffer.isBuffer(rawPacket) ? readable(rawPacket) : '';
}

/**
 * The outcome of a broken connection. Errors of Node's parser have codes that begin with HPE; a normal close is an
 * ECONNRESET without a system call.
 */
function brokenCode({ code = '', syscall }: NodeJS.ErrnoException): OutcomeCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'http-headers-too-long';
  if (code.startsWith('HPE_')) return 'garbage-answer';
  if (code === 'ETIMEDOUT') return 'no-answer';
  return syscall === undefined && code === 'ECONNRESET' ? 'closed-without-answer' : 'reset';
}
