import type { Listener } from '../../listeners/listener.ts';
import { hasAcknowledged } from '../../listeners/listener-state.ts';
import type { OtherService } from '../../listeners/outcomes/other-services.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { AddressError } from '../../platform/address-guard.ts';
import type { MayConnect } from '../../platform/limits/outgoing-limit.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import type { DeliveryDeps } from '../deps.ts';
import { Destination } from '../destination.ts';
import {
  type Deadline,
  type DialFailure,
  deadlineIn,
  dial,
  type PeerConnection,
} from '../peer-connection.ts';
import { speaksTls } from '../tls.ts';
import { isGreetingStart, readGreeting } from '../votifier/votifier-greeting.ts';

/**
 * Detects the service that answers in place of a Votifier listener. Takes up to three times `LISTENER_TIMEOUT_MS`, with
 * the look-up. `code` is the outcome of the failed attempt.
 */
export async function detectService(
  { config }: DeliveryDeps,
  { host, port }: Pick<Listener, 'host' | 'port'>,
  code: OutcomeCode,
  detecting: Omit<Detecting, 'timeoutMs'>,
): Promise<Detection> {
  const options = { timeoutMs: config.LISTENER_TIMEOUT_MS, ...detecting };
  const addresses = await addressesOf(host, config, options.stop);
  if (addresses.length === 0) return 'incomplete';
  return code === 'not-votifier'
    ? detectBanner(addresses, port, options)
    : detectProtocol(addresses, port, options);
}

/** Stores a detection, unless the listener's settings changed. */
export async function storeDetected(
  { listeners, clock }: DeliveryDeps,
  { serverId, _id, updatedAt }: Listener,
  found: Detection,
): Promise<void> {
  if (found === 'incomplete') return;
  const detected = { at: clock.now(), ...(found === 'unrecognised' ? {} : { service: found.fault }) };
  await listeners.updateOne({ serverId, _id, updatedAt }, { $set: { detected } });
}

/**
 * Detects, once for these settings, which service answers in place of a stopped listener that never greeted
 * (docs/adr/0123-votes-at-risk.md). A listener that has taken votes is only slow or hangs: it is sent nothing but
 * votes. If the detection is incomplete, a later drain repeats it.
 */
export async function detectOnce(
  deps: DeliveryDeps,
  listener: Listener,
  { accountId, stop }: { accountId: string | null; stop: AbortSignal },
): Promise<void> {
  const { pause, breaker, detected, updatedAt, protocol } = listener;
  const code = pause ? pause.code : breaker.openSince && breaker.code;
  if (protocol === 'http' || !code || !outcomeOf(code).hasNotGreeted || hasAcknowledged(listener)) return;
  if (detected && detected.at >= updatedAt) return;
  const destination = new Destination(deps, listener, { accountId });
  const { mayConnect } = destination;
  // One connection at a time: TEST_CONCURRENCY limits the connections to listeners that may never answer.
  const found = await detectService(deps, listener, code, { mayConnect, stop, inTurn: true });
  await storeDetected(deps, listener, found);
}

/** Read anew because they may change; empty if the look-up fails or one is refused. */
async function addressesOf(host: string, config: DeliveryDeps['config'], signal: AbortSignal | undefined) {
  try {
    return await resolveAddress(host, { ranges: config, timeoutMs: config.LISTENER_TIMEOUT_MS, signal });
  } catch (error) {
    if (error instanceof AddressError) return [];
    throw error;
  }
}

async function detectBanner(
  addresses: string[],
  port: number,
  { timeoutMs, mayConnect, stop }: Detecting,
): Promise<Detection> {
  const connection = await dial(addresses, port, deadlineIn(timeoutMs, stop), mayConnect);
  if (typeof connection === 'string') {
    // If the service is not reachable any more: `unrecognised` is stored, and later drains do not detect it again.
    const isLater = connection === 'outgoing-limited' || connection === 'stopped-before-written';
    return isLater ? 'incomplete' : 'unrecognised';
  }
  try {
    const received = await connection.next(deadlineIn(timeoutMs, stop));
    if (received.kind === 'bytes') return { fault: protocolOf(received.bytes), reply: received.bytes };
    return received.kind === 'stopped' ? 'incomplete' : 'unrecognised';
  } finally {
    connection.destroy();
  }
}

export type DetectedProtocol = { fault: OtherService /** Its first bytes. */; reply: Buffer };

/** `incomplete`: not all requests could be sent, so nothing is known about the service. */
export type Detection = DetectedProtocol | 'unrecognised' | 'incomplete';

/** `unknown`: an answer in another protocol than that of the request. */
type DetectionAnswer = DetectedProtocol | { unknown: Buffer } | null;
type DetectionRequest = (connection: PeerConnection, until: Deadline) => Promise<DetectionAnswer>;

const HTTP_REQUEST = Buffer.from('GET / HTTP/1.0\r\nHost: tallyport\r\nConnection: close\r\n\r\n');

/** A handshake (protocol 47, next state 1) and a status request, as a Minecraft client's server list sends them. */
const MINECRAFT_STATUS = Buffer.concat([
  Buffer.from([0x0f, 0x00, 0x2f, 0x09]),
  Buffer.from('tallyport'),
  Buffer.from([0x63, 0xdd, 0x01, 0x01, 0x00]),
]);

/** The first line of the PROXY protocol, version 1, from a proxy that does not name its client. */
const PROXY_HEADER = Buffer.from('PROXY UNKNOWN\r\n');

const DETECTION_REQUESTS: DetectionRequest[] = [
  (connection, until) => sendRequest(connection, HTTP_REQUEST, until, looksLikeHttp, 'http-server'),
  (connection, until) =>
    sendRequest(connection, MINECRAFT_STATUS, until, looksLikeMinecraft, 'minecraft-server'),
  (connection, until) => sendRequest(connection, PROXY_HEADER, until, looksLikeVotifier, 'proxy-protocol'),
  sendTlsHello,
];

/** `timeoutMs`: how long a connection may take to open, and then to answer. */
export type Detecting = {
  timeoutMs: number;
  /** One connection at a time, each with a share of `timeoutMs`. */
  inTurn?: boolean | undefined;
  mayConnect?: MayConnect | undefined;
  stop?: AbortSignal | undefined;
};

/**
 * Detects the protocol of a service that sent no greeting, or closed the connection at once, from its answers to
 * `DETECTION_REQUESTS`, each on its own connection. Takes up to twice `timeoutMs`.
 *
 * @returns `other-protocol` if the answer is in none of these protocols, like one of Redis; `unrecognised` also if a
 *   Votifier greeting comes late; `incomplete` if a limit or a slow connection may have prevented an answer
 */
export async function detectProtocol(
  addresses: string[],
  port: number,
  { timeoutMs, inTurn = false, mayConnect, stop }: Detecting,
): Promise<Detection> {
  const shareMs = inTurn ? timeoutMs / DETECTION_REQUESTS.length : timeoutMs;
  const failures: DialFailure[] = [];
  const ask = async (request: DetectionRequest): Promise<DetectionAnswer> => {
    const connection = await dial(addresses, port, deadlineIn(shareMs, stop), mayConnect);
    if (typeof connection === 'string') {
      failures.push(connection);
      return null;
    }
    try {
      return await request(connection, deadlineIn(shareMs, stop));
    } finally {
      connection.destroy();
    }
  };
  const answers = inTurn ? await askInTurn(ask, stop) : await Promise.all(DETECTION_REQUESTS.map(ask));
  if (stop?.aborted) return 'incomplete';
  const said = answers.flatMap((answer) => (answer && 'unknown' in answer ? [answer.unknown] : []));
  if (said.some(looksLikeVotifier)) return 'unrecognised';
  const known = answers.find((answer) => answer !== null && 'fault' in answer);
  if (known && 'fault' in known) return known;
  // If several requests were answered, the reply to HTTP is reported: most services refuse HTTP in readable text.
  const reply = said.find((bytes) => !isGreetingStart(bytes));
  if (reply) return { fault: 'other-protocol', reply };
  // A connection that opens too slowly for its share of the time says nothing about the service.
  const isIncomplete =
    failures.length === DETECTION_REQUESTS.length ||
    failures.includes('outgoing-limited') ||
    (inTurn && failures.includes('connect-timeout'));
  return isIncomplete ? 'incomplete' : 'unrecognised';
}

async function askInTurn(
  ask: (request: DetectionRequest) => Promise<DetectionAnswer>,
  stop: AbortSignal | undefined,
): Promise<DetectionAnswer[]> {
  const answers: DetectionAnswer[] = [];
  for (const request of DETECTION_REQUESTS) {
    if (stop?.aborted) break;
    const answer = await ask(request);
    answers.push(answer);
    if (answer && 'fault' in answer) break;
  }
  return answers;
}

const MOST_READ_BYTES = 1_024;

async function sendRequest(
  connection: PeerConnection,
  request: Buffer,
  until: Deadline,
  isIt: (received: Buffer) => boolean,
  fault: OtherService,
): Promise<DetectionAnswer> {
  connection.write(request);
  let received = Buffer.alloc(0);
  while (received.length < MOST_READ_BYTES) {
    const next = await connection.next(until);
    if (next.kind !== 'bytes') break;
    received = Buffer.concat([received, next.bytes]);
    if (isIt(received)) return { fault, reply: received };
  }
  return received.length > 0 ? { unknown: received } : null;
}

function looksLikeHttp(received: Buffer): boolean {
  return received.toString('latin1', 0, 5) === 'HTTP/';
}

/** A status packet: its length, the packet number 0, the length of the text, and JSON. */
function looksLikeMinecraft(received: Buffer): boolean {
  const number = afterVarInt(received, 0);
  return received[number] === 0 && received[afterVarInt(received, number + 1)] === '{'.charCodeAt(0);
}

/** All bytes of a VarInt except the last have their highest bit set. */
function afterVarInt(bytes: Buffer, start: number): number {
  let at = start;
  while ((bytes[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}

function looksLikeVotifier(received: Buffer): boolean {
  const greeting = readGreeting(received);
  return greeting !== 'incomplete' && 'version' in greeting;
}

async function sendTlsHello(connection: PeerConnection, until: Deadline): Promise<DetectionAnswer> {
  return (await speaksTls(connection, until)) ? { fault: 'tls-server', reply: Buffer.alloc(0) } : null;
}

/** The signature of the PROXY protocol, version 2. */
const PROXY_V2 = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);

/** The protocol of a service that sends its first bytes unasked and is not Votifier. */
function protocolOf(banner: Buffer): OtherService {
  const text = banner.toString('latin1');
  if (text.startsWith('PROXY ') || banner.subarray(0, PROXY_V2.length).equals(PROXY_V2))
    return 'proxy-protocol';
  if (text.startsWith('HTTP/') || /^\s*<(!doctype|html)/i.test(text)) return 'http-server';
  // A TLS record begins with its type (0x15 alert, 0x16 handshake) and the version.
  if ((banner[0] === 0x15 || banner[0] === 0x16) && banner[1] === 0x03) return 'tls-server';
  return 'other-protocol';
}
