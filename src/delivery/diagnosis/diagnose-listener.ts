import type { Collection, ObjectId } from 'mongodb';
import type { Listener, Protocol } from '../../listeners/listener.ts';
import { hasNotGreeted, OUTCOMES, type OutcomeClass } from '../../listeners/outcomes.ts';
import type { AddressRanges } from '../../platform/address-guard.ts';
import type { Config } from '../../platform/config.ts';
import { readable } from '../../platform/printable.ts';
import type { Server } from '../../servers/server.ts';
import { shownToOwner } from '../destination.ts';
import { awaitTake } from '../fetch/await-take.ts';
import { type ListenerTest, sendTestVote, type TestDeps } from '../test-listener.ts';
import type { DetectedProtocol } from './detect-protocol.ts';
import { detectService, storeDetected } from './detect-service.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { OnStep } from './diagnosis-steps.ts';
import { explain, withServiceName } from './explanations.ts';
import { faultOf } from './faults.ts';
import { GAME_PORT, type GameAddress, isGamePort } from './game-port.ts';
import { hasTaken } from './listener-reason.ts';
import { SERVICE_EXPLANATIONS } from './service-explanations.ts';
import { storeTestResult } from './store-test-result.ts';
import { FETCHED, testAdvice } from './test-explanations.ts';

/** The dependencies of a diagnosis. */
export type DiagnosisDeps = TestDeps & {
  config: TestDeps['config'] & Pick<Config, 'LISTENER_TIMEOUT_MS'> & AddressRanges;
};

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
    deps.servers.findOne({ _id: serverId }, { projection: { ownerId: 1, address: 1, port: 1 } }),
  ]);
  const accountId = server?.ownerId?.toHexString() ?? null;
  return listener && diagnose(deps, listener, { accountId, onStep, ...(server ? { game: server } : {}) });
}

/** `game`: the address of the server that players join. */
type About = { accountId: string | null; game?: GameAddress; onStep?: OnStep | undefined };

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
  const found = protocol === 'http' ? null : await detectAfter(deps, listener, tested);
  const byOutcome = found
    ? diagnosisOfOtherService(tested.class, found)
    : diagnosisOfOutcome(tested, listener);
  const hasGamePort = isBecauseOfGamePort(tested, listener, about.game);
  const diagnosis = hasGamePort ? { ...byOutcome, ...GAME_PORT } : byOutcome;
  const shown = withoutUntrustedAnswer(diagnosis, tested, protocol);
  await storeTestResult(deps, listener, tested.at, shown, hasGamePort);
  // An owner's diagnosis goes to the web process as JSON, which inserts the name (`withServiceName`).
  return forOwner ? shown : withServiceName(diagnosis, listener.serviceName);
}

/** Whether a test failed, and the listener that never took a vote has the address and port of the game. */
function isBecauseOfGamePort(
  tested: ListenerTest,
  listener: Listener,
  game: GameAddress | undefined,
): boolean {
  const isFailed = tested.class !== 'delivered' && tested.class !== 'none';
  return isFailed && game !== undefined && isGamePort(listener, game) && !hasTaken(listener);
}

/** What answers in place of a Votifier listener; stored with it, so that its page and the timelines say so too. */
async function detectAfter(
  deps: DiagnosisDeps,
  listener: Listener,
  { code, destination }: ListenerTest,
): Promise<DetectedProtocol | null> {
  const { mayConnect } = destination;
  // A service that greeted is none of the others.
  const found = hasNotGreeted(code)
    ? await detectService(deps, listener, code, { mayConnect })
    : 'unrecognised';
  if (typeof found !== 'string' || listener.detected) await storeDetected(deps, listener, found);
  return typeof found === 'string' ? null : found;
}

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
  const diagnosis = diagnosisOfTake(take);
  await storeTestResult(deps, listener, tested.at, diagnosis, false);
  return diagnosis;
}

function diagnosisOfTake(take: { agent: string } | null): Diagnosis {
  if (take) {
    const agent = take.agent ? { detail: take.agent } : {};
    const taken = { outcome: 'delivered', confirmed: true, fault: null, step: 'acknowledgement' } as const;
    return { ...taken, ...FETCHED, ...agent };
  }
  const code = 'not-fetched';
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
  const isHidden = reply && !shown.words;
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
function diagnosisOfOutcome(
  { code, class: outcomeClass, reached, words, detail }: ListenerTest,
  listener: Listener,
): Diagnosis {
  const { protocol } = listener;
  // A website was sent the challenge or the vote once the connection was secure.
  const isSent = reached === 'written' || (protocol === 'http' && reached === 'greeted');
  return {
    outcome: code === 'sent-not-confirmed' ? code : outcomeClass,
    confirmed: code === 'acknowledged',
    ...faultOf(code, protocol, isSent),
    ...explain(code, protocol, { hasTaken: hasTaken(listener) }),
    ...testAdvice(code),
    ...(words ? { reply: words } : {}),
    ...(detail ? { detail } : {}),
  };
}

/** The diagnosis when something other than a Votifier listener answered. */
function diagnosisOfOtherService(
  outcome: OutcomeClass,
  { fault, reply: received }: DetectedProtocol,
): Diagnosis {
  const reply = readable(received);
  return {
    outcome,
    confirmed: false,
    fault,
    step: 'greeting',
    ...SERVICE_EXPLANATIONS[fault],
    ...(reply ? { reply } : {}),
  };
}
