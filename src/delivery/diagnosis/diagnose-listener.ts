import type { Collection, ObjectId } from 'mongodb';
import { defineMessage, type Text } from '../../language/t.ts';
import type { Listener, Protocol } from '../../listeners/listener.ts';
import { OUTCOMES, type OutcomeClass, type OutcomeCode } from '../../listeners/outcomes.ts';
import { AddressError, type AddressRanges } from '../../platform/address-guard.ts';
import type { Config } from '../../platform/config.ts';
import type { MayConnect } from '../../platform/limits/outgoing-limit.ts';
import { readable } from '../../platform/printable.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import type { Server } from '../../servers/server.ts';
import { deadlineIn, dial } from '../connection.ts';
import { shownToOwner } from '../destination.ts';
import { awaitTake } from '../fetch/await-take.ts';
import { type ListenerTest, sendTestVote, type TestDeps } from '../test-listener.ts';
import { detectProtocol, protocolOf } from './detect-protocol.ts';
import type { DiagnosisStep, OnStep } from './diagnosis-steps.ts';
import type { Explanation } from './explanation.ts';
import { explain, hasTaken } from './explanations.ts';
import { type Fault, faultOf, OTHER_SERVICES, type OtherService } from './faults.ts';

/** The first thing that is wrong with a listener. */
export type Diagnosis = {
  /** The outcome of the test vote; `sent-not-confirmed` after a bare close in Votifier v1, whatever the vote's class. */
  outcome: OutcomeClass | 'sent-not-confirmed';
  /** Whether the listener acknowledged the test vote; a bare close in Votifier v1 does not. */
  confirmed: boolean;
  /** null when nothing is known to be wrong. */
  fault: Fault | null;
  /** The step that failed; all earlier steps succeeded. */
  step: DiagnosisStep;
  /** One sentence each: what is wrong, and what to do about it. */
  cause: Text;
  advice: Text;
  /** What answered, at most 200 printable characters. */
  reply?: string;
  /** There was an answer, but the owner does not see it: the service may belong to somebody else. */
  isReplyHidden?: true;
  /** What Tallyport itself found: the target of a redirect, or the error message of its TLS library. */
  detail?: string;
};

/** The dependencies of a diagnosis. */
export type DiagnosisDeps = TestDeps & {
  config: TestDeps['config'] & Pick<Config, 'LISTENER_TIMEOUT_MS'> & AddressRanges;
};

/** After these outcomes the service did not send a Votifier greeting, so its protocol is detected. */
const DETECTED = new Set<OutcomeCode>(['silent', 'closed-before-greeting', 'not-votifier']);

/**
 * Diagnoses a server's listener: checks name resolution, address policy, connecting, greeting, protocol version, key or
 * token and acknowledgement with a marked test vote. If something other than a Votifier listener answers, detects its
 * protocol. For a listener that fetches it waits for the next take. Changes nothing but the stored outcome of the test.
 *
 * This one is for operators and has no limit; owners go through `diagnoseForOwner`.
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
 * Diagnoses a listener that the caller has read already.
 *
 * @param forOwner - an answer is shown only if it comes from a vote listener
 */
export async function diagnose(
  deps: DiagnosisDeps,
  listener: Listener,
  { forOwner = false, ...about }: About & { forOwner?: boolean },
): Promise<Diagnosis> {
  if (listener.protocol === 'fetch') return diagnoseFetching(deps, listener, about);
  const tested = await sendTestVote(deps, listener, about);
  const { protocol } = listener;
  const found =
    protocol !== 'http' && DETECTED.has(tested.code) ? await detectService(deps, listener, tested) : null;
  const diagnosis = found ?? diagnosisOf(tested, listener);
  return forOwner ? withoutUntrustedAnswer(diagnosis, tested, protocol) : diagnosis;
}

const FETCHED = {
  cause: defineMessage('Votes were fetched while the test waited.'),
  advice: defineMessage('There is nothing to do.'),
} as const satisfies Explanation;

/** Waits for the next take, and says what came: the `User-Agent` of the call. */
async function diagnoseFetching(
  deps: DiagnosisDeps,
  listener: Listener,
  { onStep }: About,
): Promise<Diagnosis> {
  onStep?.('acknowledgement');
  const take = await awaitTake(deps, listener);
  const { serverId, _id, revision } = listener;
  const code = take ? 'acknowledged' : 'not-fetched';
  const tested = { at: deps.clock.now(), code } as const;
  await deps.listeners.updateOne({ serverId, _id, revision }, { $set: { tested } });
  if (take) {
    const agent = take.agent ? { detail: take.agent } : {};
    return {
      outcome: 'delivered',
      confirmed: true,
      fault: null,
      step: 'acknowledgement',
      ...FETCHED,
      ...agent,
    };
  }
  return {
    outcome: OUTCOMES[code],
    confirmed: false,
    ...faultOf(code, 'fetch', false),
    ...explain(code, 'fetch'),
  };
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

/**
 * The diagnosis that follows from the outcome of the test vote, before the protocol of an unknown service is detected.
 */
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

/** The addresses are resolved and checked again: the host's address may have changed since the test vote. */
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
