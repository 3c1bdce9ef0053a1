import http, { type IncomingMessage } from 'node:http';
import { meaningOfStatus, retryAfterMs } from './http-answer.ts';
import { signedHeaders, voteBody } from './http-message.ts';
import { type Outcome, type OutcomeCode, outcome } from './outcomes.ts';
import { printable, readable } from './printable.ts';
import { resolveListener } from './resolve-listener.ts';
import { secure } from './tls.ts';
import { assertSendable, type ForwardedVote } from './vote-message.ts';
import { answerMsOf, type SendOptions, type SendResult } from './votifier-client.ts';
import { dial, patience, type Wire } from './wire.ts';

/** An HTTP listener as its owner set it, its secrets opened. */
export type HttpTarget = {
  protocol: 'http';
  url: string;
  /** 24 hexadecimal digits: the message names the server. */
  serverId: string;
  /** The signing secret, `whsec_…`. */
  secret: string;
  /** The one before the last rotation: messages are signed with it too until then. */
  previous: { secret: string; until: Date } | null;
};

/** No more of an answer's body is read; headers have Node's own bound of 16 KiB. */
const LONGEST_ANSWER = 4_096;

/**
 * Makes one attempt to post a vote to an HTTP listener: resolves and checks the address, connects, shakes hands
 * where it is https, posts one signed message and waits for the status. Redirects are not followed.
 *
 * "Written" is the watershed, as for Votifier: after it only an answer tells whether the vote arrived.
 *
 * @param now - the moment that the signature carries: the far end refuses one that is minutes away from its own
 * @throws {TypeError} when the vote could never be sent (`assertSendable`): a fault of the caller
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
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await resolveListener(host, options);
  if (!Array.isArray(addresses)) return addresses;

  options.onStep?.('connecting');
  const plain = await dial(addresses, portOf(url), patience(options.timeoutMs, options.signal));
  if (typeof plain === 'string') return outcome(plain, 'resolved');
  try {
    options.onStep?.('greeting');
    const wire = url.protocol === 'https:' ? await handshake(plain, host, options) : plain;
    if ('code' in wire) return wire;
    return await post(wire, url, { target, vote, now }, options);
  } finally {
    plain.destroy();
  }
}

/** The port that a URL of an HTTP listener leads to. */
export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

async function handshake(plain: Wire, host: string, options: SendOptions): Promise<Wire | Outcome> {
  const secured = await secure(plain.socket, host, patience(options.timeoutMs, options.signal));
  if (!('fault' in secured)) return secured;
  const { fault, detail } = secured;
  return { ...outcome(fault, 'connected'), ...(detail ? { detail: printable(detail) } : {}) };
}

function secretsAt({ target: { secret, previous }, now }: Message): string[] {
  return previous && now < previous.until ? [secret, previous.secret] : [secret];
}

type Message = { target: HttpTarget; vote: ForwardedVote; now: Date };

async function post(wire: Wire, url: URL, message: Message, options: SendOptions): Promise<Outcome> {
  const early = await wire.glance();
  if (early.kind === 'bytes') return outcome('not-http', 'connected', readable(early.bytes));
  if (early.kind === 'closed' || early.kind === 'broken')
    return outcome('closed-before-written', 'connected');

  const body = voteBody(message.vote, message.target.serverId);
  const headers = {
    host: url.host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    accept: '*/*',
    'user-agent': 'Tallyport',
    connection: 'close',
    ...signedHeaders(message.vote.id, body, secretsAt(message), message.now),
  };
  if (options.signal?.aborted || options.waitSignal?.aborted) {
    return outcome('stopped-before-written', 'greeted');
  }
  if (!options.mayWrite()) return outcome('our-fault', 'greeted');
  options.onStep?.('acknowledgement');
  const request = http.request({
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers,
    // No agent: this connection is used once and has been checked.
    createConnection: () => wire.socket,
  });
  return hearStatus(request, body, options);
}

/** Sends the request and waits for its status; one deadline holds for all of it, however slowly it drips. */
async function hearStatus(request: http.ClientRequest, body: string, options: SendOptions): Promise<Outcome> {
  const { promise: unanswered, resolve } = Promise.withResolvers<Outcome>();
  const end = (code: OutcomeCode, words = '') => resolve(outcome(code, 'written', printable(words)));
  const { promise: answered, resolve: answer } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  const stop = (code: OutcomeCode) => (response ? response.destroy() : end(code));
  const onStop = () => stop('stopped-while-waiting');
  // A busy process may notice the deadline long after it, with an answer in time still unread.
  const timer = setTimeout(() => setImmediate(() => stop('no-answer')), answerMsOf(options));
  options.waitSignal?.addEventListener('abort', onStop);
  request
    // The wire leaves it paused between two looks.
    .on('socket', (socket) => socket.resume())
    .on('response', (heard) => {
      response = heard;
      answer(heard);
    })
    .on('upgrade', (_response, socket) => {
      socket.destroy();
      end('garbage-answer', 'HTTP 101');
    })
    // Stays for good: an error that comes while nobody waits must not become an uncaught exception.
    .on('error', (error) => end(brokenCode(error)));
  request.end(body);
  try {
    return await Promise.race([unanswered, answered.then(hearRefusal)]);
  } finally {
    clearTimeout(timer);
    options.waitSignal?.removeEventListener('abort', onStop);
    request.destroy();
  }
}

/** A success needs no body; of any other answer the first 4 KiB are read for its words. */
async function hearRefusal(response: IncomingMessage): Promise<Outcome> {
  const status = response.statusCode ?? 0;
  const code = meaningOfStatus(status);
  response.on('error', () => undefined);
  if (code === 'acknowledged') return outcome(code, 'acknowledged');
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece);
      length += piece.length;
      if (length >= LONGEST_ANSWER) break;
    }
  } catch {
    // The status was heard; what is missing are words.
  }
  const said = Buffer.concat(pieces).toString('utf8', 0, LONGEST_ANSWER);
  const { location } = response.headers;
  const retry = retryAfterMs(response.headers['retry-after'], new Date());
  return {
    ...outcome(code, 'written', printable(`HTTP ${status} ${said}`)),
    ...(code === 'http-redirected' && location
      ? { detail: printable(`The redirect leads to ${location}`) }
      : {}),
    ...(retry === null ? {} : { retryAfterMs: retry }),
  };
}

/** Node's parser names what it cannot read with codes that begin with HPE; a close in good order has no call. */
function brokenCode({ code = '', syscall }: NodeJS.ErrnoException): OutcomeCode {
  if (code.startsWith('HPE_')) return 'garbage-answer';
  if (code === 'ETIMEDOUT') return 'no-answer';
  return syscall === undefined && code === 'ECONNRESET' ? 'closed-without-answer' : 'reset';
}
