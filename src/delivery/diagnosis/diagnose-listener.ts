import type { Collection, ObjectId } from 'mongodb';
import type { Text } from '../../language/t.ts';
import type { Listener, Protocol } from '../../listeners/listener.ts';
import type { OutcomeClass, OutcomeCode } from '../../listeners/outcomes.ts';
import { AddressError, type AddressRanges } from '../../platform/address-guard.ts';
import type { Config } from '../../platform/config.ts';
import type { MayConnect } from '../../platform/limits/outgoing-limit.ts';
import { readable } from '../../platform/printable.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import type { Server } from '../../servers/server.ts';
import { deadlineIn, dial } from '../connection.ts';
import { shownToOwner } from '../destination.ts';
import { type ListenerTest, sendTestVote, type TestDeps } from '../test-listener.ts';
import { detectProtocol, protocolOf } from './detect-protocol.ts';
import type { DiagnosisStep, OnStep } from './diagnosis-steps.ts';
import { explain } from './explanations.ts';
import { FAULTS, type Fault } from './faults.ts';

/** The first thing that is wrong with a listener. */
export type Diagnosis = {
  /** The outcome of the test vote; `sent-not-confirmed` after a bare close in Votifier v1, whatever the vote's class. */
  outcome: OutcomeClass | 'sent-not-confirmed';
  /** Whether the listener acknowledged the test vote; a bare close in Votifier v1 does not. */
  confirmed: boolean;
  /** null when nothing is known to be wrong. */
  fault: Fault | null;
  /** The step at which it stopped; the earlier steps are in order. */
  step: DiagnosisStep;
  /** One sentence each: what is wrong, and what to do about it. */
  cause: Text;
  mend: Text;
  /** What answered, at most 200 printable characters. */
  reply?: string;
  /** There was an answer that the owner is not shown, because it is unknown whose service this is. */
  isReplyHidden?: true;
  /** What Tallyport itself found: the target of a redirect, or the error message of its TLS library. */
  detail?: string;
};

/** What a diagnosis works on. */
export type DiagnosisDeps = TestDeps & {
  config: TestDeps['config'] & Pick<Config, 'LISTENER_TIMEOUT_MS'> & AddressRanges;
};

/** The fault for an outcome; for a service that does not greet, its protocol is detected. */
const FAULT_OF: Record<OutcomeCode, Fault | null> = {
  acknowledged: null,
  'sent-not-confirmed': null,
  'dns-not-found': 'dns-not-found',
  'dns-timeout': 'dns-not-found',
  'connection-refused': 'connection-refused',
  'firewall-rejected': 'firewall-rejected',
  unreachable: 'unreachable',
  'connect-timeout': 'connect-timeout',
  silent: 'silent',
  'closed-before-greeting': 'closed-without-answer',
  'closed-before-written': 'closed-without-answer',
  'too-slow': 'too-slow',
  'unknown-error': 'listener-error',
  'challenge-refused': 'challenge-refused',
  'http-unavailable': 'http-server',
  'http-not-ready': 'http-server',
  'closed-without-answer': 'closed-without-answer',
  reset: 'closed-without-answer',
  'no-answer': 'too-slow',
  'garbage-answer': 'garbage-answer',
  'lease-ran-out': null,
  'stopped-while-waiting': null,
  'bad-signature': 'bad-signature',
  'unknown-service': 'unknown-service',
  'key-invalid': 'key-invalid',
  'not-votifier': 'other-protocol',
  'v1-only': 'v1-only',
  'v2-only': 'v2-only',
  'address-refused': 'address-refused',
  'not-http': 'other-protocol',
  'tls-failed': 'tls-server',
  'certificate-refused': 'tls-server',
  'http-redirected': 'http-server',
  'http-forbidden': 'bad-signature',
  'http-not-found': 'http-server',
  'http-unverified': 'http-unverified',
  'repeated-vote-faults': null,
  'never-acknowledged': null,
  'name-too-long': 'name-too-long',
  'frame-too-long': 'name-too-long',
  'vote-refused': 'vote-refused',
  'stopped-before-written': null,
  'outgoing-limited': null,
  'our-fault': null,
};

/** Outcomes whose own explanation is more specific than that of their fault. */
const SAYS_MORE = new Set<OutcomeCode>([
  'acknowledged',
  'sent-not-confirmed',
  'dns-timeout',
  'closed-before-greeting',
  'closed-before-written',
  'reset',
  'no-answer',
  'http-unavailable',
  'http-not-ready',
  'http-redirected',
  'http-forbidden',
  'http-not-found',
  'tls-failed',
  'certificate-refused',
  'not-http',
  'outgoing-limited',
  'our-fault',
]);

/** Outcomes of services that did not greet as Votifier does: their protocol is detected. */
const DETECTED = new Set<OutcomeCode>(['silent', 'closed-before-greeting', 'not-votifier']);

/**
 * Diagnoses a server's listener: checks name resolution, address policy, connecting, greeting, protocol version, key or
 * token and acknowledgement with a marked test vote. If something other than a Votifier listener answers, detects its
 * protocol. Changes nothing but the stored outcome of the test.
 *
 * For operators, without a limit; owners go through `diagnoseForOwner`.
 *
 * @returns null when the server has no listener
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function diagnoseListener(
  deps: DiagnosisDeps & { servers: Collection<Server> },
  serverId: ObjectId,
  onStep?: OnStep,
): Promise<Diagnosis | null> {
  const [listener, server] = await Promise.all([
    deps.listeners.findOne({ serverId }),
    deps.servers.findOne({ _id: serverId }, { projection: { ownerId: 1 } }),
  ]);
  const accountId = server?.ownerId?.toHexString() ?? null;
  return listener && diagnose(deps, listener, { accountId, onStep });
}

type About = { accountId: string | null; onStep?: OnStep | undefined };

/**
 * The same for a listener that was read before.
 *
 * @param forOwner - an answer is shown only if it comes from a vote listener
 */
export async function diagnose(
  deps: DiagnosisDeps,
  listener: Listener,
  { forOwner = false, ...about }: About & { forOwner?: boolean },
): Promise<Diagnosis> {
  const tested = await sendTestVote(deps, listener, about);
  const { protocol } = listener;
  const found =
    protocol !== 'http' && DETECTED.has(tested.code) ? await detectService(deps, listener, tested) : null;
  const diagnosis = found ?? diagnosisOf(tested, protocol);
  return forOwner ? withoutUntrustedAnswer(diagnosis, tested, protocol) : diagnosis;
}

/** A diagnosis without the answer of a service that may belong to somebody else. */
function withoutUntrustedAnswer(
  { reply, detail, ...diagnosis }: Diagnosis,
  { proven, code, class: outcome, reached }: ListenerTest,
  protocol: Protocol,
): Diagnosis {
  const received = { ...(reply ? { words: reply } : {}), ...(detail ? { detail } : {}) };
  const shown = shownToOwner({ protocol, proven }, { code, class: outcome, reached, ...received });
  const isHidden = (reply || detail) && !shown.words && !shown.detail;
  return {
    ...diagnosis,
    ...(shown.words ? { reply: shown.words } : {}),
    ...(shown.detail ? { detail: shown.detail } : {}),
    ...(isHidden ? { isReplyHidden: true as const } : {}),
  };
}

/** The diagnosis for an outcome alone. */
function diagnosisOf(
  { code, class: ended, reached, words, detail }: ListenerTest,
  protocol: Protocol,
): Diagnosis {
  const fault = faultOf(code, protocol);
  // The faults' texts for Votifier are wrong for a website.
  const byCode = fault === null || SAYS_MORE.has(code) || protocol === 'http';
  return {
    outcome: code === 'sent-not-confirmed' ? code : ended,
    confirmed: code === 'acknowledged',
    fault,
    step: fault ? stepOf(fault, reached === 'written') : reachedStep(code),
    ...(byCode ? explain(code, protocol) : FAULTS[fault]),
    ...(words ? { reply: words } : {}),
    ...(detail ? { detail } : {}),
  };
}

/** A v1 listener that neither answers nor closes most likely has a different key. */
function faultOf(code: OutcomeCode, protocol: Protocol): Fault | null {
  return code === 'no-answer' && protocol === 'votifier-v1' ? 'key-invalid' : FAULT_OF[code];
}

/** The last step of a test vote without a known fault: a bare close does not show whether the key is right. */
function reachedStep(code: OutcomeCode): DiagnosisStep {
  if (code === 'outgoing-limited') return 'connecting';
  return code === 'sent-not-confirmed' ? 'key-or-token' : 'acknowledgement';
}

function stepOf(fault: Fault, written: boolean): DiagnosisStep {
  switch (fault) {
    case 'dns-not-found':
      return 'name-resolution';
    case 'address-refused':
      return 'address-policy';
    case 'connection-refused':
    case 'firewall-rejected':
    case 'unreachable':
    case 'connect-timeout':
      return 'connecting';
    case 'v1-only':
    case 'v2-only':
      return 'protocol-version';
    case 'key-invalid':
    case 'token-malformed':
    case 'bad-signature':
    case 'unknown-service':
      return 'key-or-token';
    case 'challenge-refused':
    case 'name-too-long':
    case 'garbage-answer':
    case 'vote-refused':
      return 'acknowledgement';
    case 'closed-without-answer':
    case 'listener-error':
    case 'too-slow':
    case 'http-server':
      return written ? 'acknowledgement' : 'greeting';
    default:
      return 'greeting';
  }
}

async function detectService(
  deps: DiagnosisDeps,
  listener: Listener,
  { code, class: outcome, destination }: ListenerTest,
): Promise<Diagnosis | null> {
  const { config } = deps;
  const { host, port } = listener;
  const { mayConnect } = destination;
  const timeoutMs = config.LISTENER_TIMEOUT_MS;
  const addresses = await addressesOf(host, config);
  if (code === 'not-votifier') {
    const banner = await readBanner(addresses, port, timeoutMs, mayConnect);
    return banner && diagnosed(outcome, protocolOf(banner), banner);
  }
  const detected = await detectProtocol(addresses, port, timeoutMs, mayConnect);
  return detected && diagnosed(outcome, detected.fault, detected.reply);
}

function diagnosed(outcome: OutcomeClass, fault: Fault, received: Buffer): Diagnosis {
  const reply = readable(received);
  return {
    outcome,
    confirmed: false,
    fault,
    step: 'greeting',
    ...FAULTS[fault],
    ...(reply ? { reply } : {}),
  };
}

/** Checked once more: the name may have changed since the test vote. */
async function addressesOf(host: string, config: DiagnosisDeps['config']): Promise<string[]> {
  try {
    return await resolveAddress(host, { ranges: config, timeoutMs: config.LISTENER_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof AddressError) return [];
    throw error;
  }
}

/** The first bytes that a service sends; null when it sends nothing this time. */
async function readBanner(
  addresses: string[],
  port: number,
  timeoutMs: number,
  mayConnect: MayConnect,
): Promise<Buffer | null> {
  const connection = await dial(addresses, port, deadlineIn(timeoutMs), mayConnect);
  if (typeof connection === 'string') return null;
  try {
    const received = await connection.next(deadlineIn(timeoutMs));
    return received.kind === 'bytes' ? received.bytes : null;
  } finally {
    connection.destroy();
  }
}
