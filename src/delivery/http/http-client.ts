import http from 'node:http';
import { type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import { hostOf } from '../../platform/host-and-port.ts';
import { printable, readable } from '../../platform/printable.ts';
import { connectTo, deadlineIn, dial, type PeerConnection, resolveAndConnect } from '../peer-connection.ts';
import { secure, speaksTls } from '../tls.ts';
import { assertSendable, type ForwardedVote } from '../vote-message.ts';
import type { SendOptions } from '../votifier/votifier-client.ts';
import { exchange, mayRefuseOne } from './http-answer.ts';
import {
  challengeOutcome,
  type HttpAnswer,
  newChallenge,
  portOf,
  signedHeaders,
  voteBody,
} from './http-message.ts';

/** Where signed messages go: the settings of an HTTP listener or a subscription, with the secrets (`whsec_…`) opened. */
export type HttpTarget = {
  protocol: 'http';
  url: string;
  serverId: string;
  /** Absent: a listener. */
  subscriptionId?: string;
  secret: string;
  /** The secret before the last rotation: until then, messages are signed with both. */
  previous: { secret: string; until: Date } | null;
};

/** `status` is 0 without an answer. */
type Answered = Pick<HttpAnswer, 'result' | 'status'>;

/** `id`: the header `webhook-id`, the same in every attempt. */
export type SignedMessage = { id: string; body: string };

/**
 * Makes one attempt to post a signed vote to an HTTP listener; see `postSigned`.
 *
 * @throws {TypeError} when the vote can never be sent (`assertSendable`)
 */
export async function postVote(
  target: HttpTarget,
  vote: ForwardedVote,
  options: SendOptions,
  now: Date,
): Promise<Outcome> {
  assertSendable(vote, 'http');
  const message = { id: vote.id, body: voteBody(vote, target.serverId) };
  const { result } = await postSigned(target, message, options, now);
  return result;
}

/**
 * Makes one attempt to post a signed message. A website whose address is not proven must first repeat a challenge.
 * Before the first byte of the message is written, it cannot have arrived; after that, only an answer shows whether it
 * did. If the website refuses it, perhaps because of its content, `onRefusal` decides what that means.
 *
 * @param now - the timestamp of the signature; receivers refuse one that differs by minutes from their clock
 */
export async function postSigned(
  target: HttpTarget,
  { id, body }: SignedMessage,
  options: SendOptions,
  now: Date,
): Promise<Answered> {
  const url = new URL(target.url);
  const { destination } = options;
  const plain = await resolveAndConnect(hostOf(url), portOf(url), options);
  if ('code' in plain) return { result: plain, status: 0 };
  const address = plain.socket.remoteAddress ?? '';
  const secrets = secretsAt(target, now);
  const message = signed(id, body, secrets, now);
  const unwatched = { ...options, onStep: undefined };
  // Message and challenge go to one address, not to another address of the same host.
  const connectAgain = () => connectTo([destination?.address || address], portOf(url), unwatched);
  const postChallenge = async (connection: PeerConnection, how: SendOptions): Promise<Answered | null> => {
    const challenge = newChallenge(target.serverId, target.subscriptionId);
    const asked = { ...signed(challenge.id, challenge.body, secrets, now), readsBody: true };
    const answer = await postOver(connection, url, asked, how);
    const failed = challengeOutcome(answer, challenge);
    if (!failed) destination?.challengeMet();
    return failed && { result: failed, status: answer.status };
  };
  const judged = async (result: Outcome, status: number, challenge: () => Promise<Outcome | null>) => ({
    result:
      mayRefuseOne(result, status) && options.onRefusal ? await options.onRefusal(result, challenge) : result,
    status,
  });

  if (!destination?.mustChallenge) {
    const { result, status } = await postOver(plain, url, message, options);
    return judged(await tlsExpected(result, url, address, options), status, async () => {
      const again = await connectAgain();
      if ('code' in again) return again;
      const failed = await postChallenge(again, { ...unwatched, answerMs: options.timeoutMs });
      return failed?.result ?? null;
    });
  }
  const failed = await postChallenge(plain, options);
  if (failed) return { ...failed, result: await tlsExpected(failed.result, url, address, options) };
  const again = await connectAgain();
  if ('code' in again) return { result: again, status: 0 };
  // The website has just repeated a challenge, so no other one is sent after a refusal.
  const { result, status } = await postOver(again, url, message, unwatched);
  return judged(result, status, async () => null);
}

/** Sends JSON, or nothing, with the address checks, deadlines and size limits of a vote. */
export async function sendJson(
  url: URL,
  message: Partial<Message>,
  options: SendOptions,
): Promise<HttpAnswer> {
  const plain = await resolveAndConnect(hostOf(url), portOf(url), options);
  if ('code' in plain) return { result: plain, status: 0, said: '' };
  return postOver(plain, url, { headers: {}, body: '', ...message }, options);
}

/** A TLS port answers a request without TLS so: it closes the connection or sends a TLS alert. */
const LIKE_TLS: ReadonlySet<OutcomeCode> = new Set([
  'closed-without-answer',
  'closed-before-written',
  'reset',
  'garbage-answer',
  'not-http',
]);

/** If the connection ended as a TLS port ends it, one more tests whether it is one: then the request was not read. */
async function tlsExpected(result: Outcome, url: URL, address: string, options: SendOptions) {
  if (url.protocol !== 'http:' || !LIKE_TLS.has(result.code)) return result;
  const waiting = deadlineIn(options.timeoutMs, options.signal);
  const again = await dial([address], portOf(url), waiting, options.destination?.mayConnect);
  if (typeof again === 'string') return result;
  try {
    return (await speaksTls(again, waiting)) ? outcome('tls-expected', 'connected', result.words) : result;
  } finally {
    again.destroy();
  }
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

/** `POST` by default; an empty `body` is not sent. `mostBytes`: how much of the answer is read, 4 KiB by default. */
type Message = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  headers: Record<string, string>;
  body: string;
  readsBody?: boolean;
  mostBytes?: number;
};

function signed(id: string, body: string, secrets: string[], now: Date): Message {
  return { headers: signedHeaders(id, body, secrets, now), body };
}

async function postOver(
  plain: PeerConnection,
  url: URL,
  message: Message,
  options: SendOptions,
): Promise<HttpAnswer> {
  const unanswered = (result: Outcome): HttpAnswer => ({ result, status: 0, said: '' });
  try {
    options.onStep?.('greeting');
    const connection = url.protocol === 'https:' ? await handshake(plain, hostOf(url), options) : plain;
    if ('code' in connection) return unanswered(connection);
    const early = await outcomeBeforeRequest(connection, options);
    if (early) return unanswered(early);
    options.onStep?.('acknowledgement');
    return await exchange(requestOver(connection, url, message), message, options);
  } finally {
    plain.destroy();
  }
}

/** What the website sent before the request decides whether anything may be written. */
async function outcomeBeforeRequest(connection: PeerConnection, options: SendOptions) {
  const early = await connection.readArrived();
  if (early.kind === 'bytes') return outcome('not-http', 'connected', readable(early.bytes));
  if (early.kind === 'closed' || early.kind === 'broken')
    return outcome('closed-before-written', 'connected');
  if (options.signal?.aborted || options.waitSignal?.aborted)
    return outcome('stopped-before-written', 'greeted');
  return options.mayWrite() ? null : outcome('our-fault', 'greeted');
}

function requestOver(
  connection: PeerConnection,
  url: URL,
  { method = 'POST', headers, body }: Message,
): http.ClientRequest {
  const content = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return http.request({
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      ...(body ? content : {}),
      accept: '*/*',
      // If a website compresses its answer nevertheless, the outcome says so.
      'accept-encoding': 'identity',
      'user-agent': 'Tallyport',
      connection: 'close',
      ...headers,
    },
    // An agent could open another one, whose address was not checked.
    createConnection: () => connection.socket,
  });
}
