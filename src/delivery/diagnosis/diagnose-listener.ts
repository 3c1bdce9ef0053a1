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
import { type Fault, faultOf, OTHER_SERVICES, type OtherService } from './faults.ts';
import { hasTaken } from './listener-reason.ts';

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
  advice: Text;
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
  const diagnosis = found ?? diagnosisOf(tested, listener);
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
  listener: Listener,
): Diagnosis {
  const { protocol } = listener;
  return {
    outcome: code === 'sent-not-confirmed' ? code : ended,
    confirmed: code === 'acknowledged',
    ...faultOf(code, protocol, reached === 'written'),
    ...explain(code, protocol, hasTaken(listener)),
    ...(words ? { reply: words } : {}),
    ...(detail ? { detail } : {}),
  };
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

function diagnosed(outcome: OutcomeClass, fault: OtherService, received: Buffer): Diagnosis {
  const reply = readable(received);
  return {
    outcome,
    confirmed: false,
    fault,
    step: 'greeting',
    ...OTHER_SERVICES[fault],
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
