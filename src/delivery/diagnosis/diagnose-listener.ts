import type { ObjectId } from 'mongodb';
import type { Listener, ListenerTestResult, Protocol } from '../../listeners/listener.ts';
import { OUTCOMES, type Outcome } from '../../listeners/outcomes.ts';
import { readable } from '../../platform/printable.ts';
import type { DeliveryDeps } from '../deps.ts';
import { shownToOwner } from '../destination.ts';
import { awaitTake } from '../fetch/fetching-listener.ts';
import type { SendVote } from '../send-vote.ts';
import { type ListenerTest, sendTestVote } from '../test-listener.ts';
import { type DetectedProtocol, detectService, storeDetected } from './detect-service.ts';
import { type Diagnosis, diagnosisOf, faultOf, type OnStep } from './diagnosis.ts';
import { type GameAddress, isGamePort, isSlowV1, withServiceName } from './explain.ts';
import { hasTaken } from './listener-reason.ts';
import { type NotTestable, testedListener } from './request-diagnosis.ts';

type DiagnosisDeps = DeliveryDeps & { send: SendVote };

/**
 * Diagnoses a server's listener for an operator, who has no limit of checks, by a marked test vote. Only the results
 * and a proof of the address are stored.
 *
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function diagnoseListener(
  deps: DiagnosisDeps,
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

export type OwnerDiagnosis =
  | { kind: 'diagnosed'; diagnosis: Diagnosis }
  | ({ kind: 'refused' } & NotTestable);

/**
 * Diagnoses a server's listener for its owner, after `requestDiagnosis` has allowed it. Less is shown of a service that
 * may belong to somebody else (`shownToOwner`).
 *
 * @throws {UnsealError} when the listener's secret cannot be read
 */
export async function diagnoseForOwner(
  deps: DiagnosisDeps,
  serverId: ObjectId,
  onStep?: OnStep,
): Promise<OwnerDiagnosis> {
  // The listener may have changed since `requestDiagnosis`.
  const tested = await testedListener(deps, serverId);
  if ('code' in tested) return { kind: 'refused', ...tested };
  const { listener, accountId, game } = tested;
  const about = { accountId, game, onStep, forOwner: true };
  return { kind: 'diagnosed', diagnosis: await diagnose(deps, listener, about) };
}

/** `game`: the address that players join. */
type About = {
  accountId: string | null;
  game?: GameAddress;
  onStep?: OnStep | undefined;
  forOwner?: boolean;
};

async function diagnose(deps: DiagnosisDeps, listener: Listener, about: About): Promise<Diagnosis> {
  const { protocol, serviceName } = listener;
  if (protocol === 'fetch') return diagnoseFetching(deps, listener, about);
  const tested = await sendTestVote(deps, listener, about);
  const found = protocol === 'http' ? null : await detectAfter(deps, listener, tested);
  const hasGamePort = isBecauseOfGamePort(tested, listener, about.game);
  const result = { ...resultOf(tested, listener, found), ...(hasGamePort ? { hasGamePort } : {}) };
  const shown = withoutUntrustedAnswer(result, tested, protocol);
  const { _id, serverId, revision } = listener;
  // Texts are not stored: they are made from the codes later, in the language of the page. If there is a newer test or
  // the settings have changed meanwhile, nothing is stored.
  await deps.listeners.updateOne(
    { serverId, _id, revision, 'tested.at': tested.at },
    { $set: { 'tested.result': shown } },
  );
  // The web process shows the diagnosis to the owner, and inserts the service name itself (`withServiceName`).
  return about.forOwner
    ? diagnosisOf(listener, tested.code, shown)
    : withServiceName(diagnosisOf(listener, tested.code, result), serviceName);
}

/** Whether the listener has the game's address and port and never took a vote. */
function isBecauseOfGamePort(tested: ListenerTest, listener: Listener, game: GameAddress | undefined) {
  const isFailed = tested.class !== 'delivered' && tested.class !== 'none';
  return isFailed && game !== undefined && isGamePort(listener, game) && !hasTaken(listener);
}

async function detectAfter(deps: DiagnosisDeps, listener: Listener, { code, destination }: ListenerTest) {
  const { mayConnect } = destination;
  // Only an outcome without a Votifier greeting may come from another service.
  const found = OUTCOMES[code].hasNotGreeted
    ? await detectService(deps, listener, code, { mayConnect })
    : 'unrecognised';
  if (typeof found !== 'string' || listener.detected) await storeDetected(deps, listener, found);
  return typeof found === 'string' ? null : found;
}

async function diagnoseFetching(deps: DiagnosisDeps, listener: Listener, { onStep }: About) {
  onStep?.('acknowledgement');
  const take = await awaitTake(deps, listener);
  const { serverId, _id, revision } = listener;
  const code = take ? 'acknowledged' : 'not-fetched';
  const result = resultOf({ code, reached: 'none', detail: take?.agent }, listener, null);
  const tested = { at: deps.clock.now(), code, result } as const;
  await deps.listeners.updateOne({ serverId, _id, revision }, { $set: { tested } });
  return diagnosisOf(listener, code, result);
}

function resultOf(
  {
    code,
    reached,
    words,
    detail,
  }: Pick<Outcome, 'code' | 'reached' | 'words'> & { detail?: string | undefined },
  listener: Listener,
  found: DetectedProtocol | null,
): ListenerTestResult {
  const { protocol } = listener;
  // For a website, `greeted` means that the connection was ready, and the challenge or the vote was sent.
  const isWritten = reached === 'written' || (protocol === 'http' && reached === 'greeted');
  const isSlow = isSlowV1({ code, hasTaken: hasTaken(listener), detail }, protocol);
  const { fault, step } = found
    ? { fault: found.fault, step: 'greeting' }
    : faultOf(code, protocol, { isWritten, isSlow });
  const reply = found ? readable(found.reply) : words;
  return { step, ...(fault ? { fault } : {}), ...(reply ? { reply } : {}), ...(detail ? { detail } : {}) };
}

function withoutUntrustedAnswer(
  { reply, detail, ...result }: ListenerTestResult,
  { proven, code, class: outcome, reached }: ListenerTest,
  protocol: Protocol,
): ListenerTestResult {
  const received = { ...(reply ? { words: reply } : {}), ...(detail ? { detail } : {}) };
  const shown = shownToOwner({ protocol, proven }, { code, class: outcome, reached, ...received });
  const isReplyHidden = !!reply && !shown.words;
  return {
    ...result,
    ...(shown.words ? { reply: shown.words } : {}),
    ...(shown.detail ? { detail: shown.detail } : {}),
    ...(isReplyHidden ? { isReplyHidden } : {}),
  };
}
