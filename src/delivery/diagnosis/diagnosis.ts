import { type Explanation, explanation } from '../../listeners/explanation.ts';
import type { Listener, ListenerTestResult, Protocol } from '../../listeners/listener.ts';
import { isOtherService, OTHER_SERVICES } from '../../listeners/outcomes/other-services.ts';
import type { DiagnosisStep, OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import { type Fault, type OutcomeCode, outcomeOf, saidIn } from '../../listeners/outcomes.ts';
import { explain, GAME_PORT } from './explain.ts';
import { hasTaken } from './listener-reason.ts';

/** Called when a step begins: all earlier ones have succeeded. Must not throw. */
export type OnStep = (step: DiagnosisStep) => void;

/** The first thing that is wrong with a listener, with its cause and what to do about it. */
export type Diagnosis = Explanation & {
  /** `sent-not-confirmed`: a v1 listener closed without an answer. */
  outcome: OutcomeClass | 'sent-not-confirmed';
  confirmed: boolean;
  fault: Fault | null;
  /** The step that failed, or the last one that was checked. */
  step: DiagnosisStep;
  /** At most 200 printable characters. */
  reply?: string;
  /** The service may belong to somebody else. */
  isReplyHidden?: true;
  /** A redirect's target, a TLS error, or the `User-Agent` of a take. */
  detail?: string;
};

/** A v1 listener that neither answers nor closes the connection probably has another key, unless it is slow. */
export function faultOf(
  code: OutcomeCode,
  protocol: Protocol,
  { isWritten, isSlow }: { isWritten: boolean; isSlow: boolean },
): { fault: Fault | null; step: DiagnosisStep } {
  const isKeyWrong = code === 'no-answer' && protocol === 'votifier-v1' && !isSlow;
  const { fault, step } = outcomeOf(isKeyWrong ? 'key-invalid' : code);
  return {
    fault: (fault as Fault | undefined) ?? null,
    step: step ?? (fault && !isWritten ? 'greeting' : 'acknowledgement'),
  };
}

type Tested = Pick<Listener, 'protocol' | 'updatedAt' | 'acknowledgedAt' | 'lastDeliveredAt' | 'tested'>;

/** Null if the settings changed since the last test, or none is stored. */
export function lastTest(listener: Tested): { at: Date; diagnosis: Diagnosis } | null {
  const { tested, updatedAt } = listener;
  if (!tested?.result || tested.at < updatedAt) return null;
  return { at: tested.at, diagnosis: diagnosisOf(listener, tested.code, tested.result) };
}

export function diagnosisOf(listener: Tested, code: OutcomeCode, result: ListenerTestResult): Diagnosis {
  const { fault, step, reply, isReplyHidden, detail } = result;
  return {
    outcome: code === 'sent-not-confirmed' ? code : outcomeOf(code).class,
    confirmed: code === 'acknowledged',
    fault: (fault as Fault | undefined) ?? null,
    step: step as DiagnosisStep,
    ...explanationOf(listener, code, result),
    ...(reply ? { reply } : {}),
    ...(isReplyHidden ? { isReplyHidden: true } : {}),
    ...(detail ? { detail } : {}),
  };
}

const FETCHED = explanation('Votes were fetched while the test waited.', 'There is nothing to do.');

function explanationOf(
  listener: Tested,
  code: OutcomeCode,
  { fault, hasGamePort, reply, detail }: ListenerTestResult,
): Explanation {
  const { protocol } = listener;
  if (protocol === 'fetch' && code === 'acknowledged') return FETCHED;
  if (hasGamePort) return GAME_PORT;
  if (protocol !== 'http' && isOtherService(fault)) return OTHER_SERVICES[fault];
  if (protocol === 'http' && REFUSALS.has(code) && reply?.startsWith('HTTP 422')) return REFUSED_TEST_PLAYER;
  const said = saidIn({ words: reply, detail });
  const { cause, advice } = explain(code, protocol, { hasTaken: hasTaken(listener), ...said });
  return { cause, advice: outcomeOf(code).testAdvice ?? advice };
}

const REFUSALS: ReadonlySet<OutcomeCode> = new Set(['vote-refused', 'http-votes-refused']);

/** The listener repeated the challenge and then refused the test. */
const REFUSED_TEST_PLAYER = explanation(
  'The website answered the challenge and refused this player, “TallyportTest” (HTTP 422), mostly because it does not know the name.',
  'Let the website take the player TallyportTest, or wait for a real vote; if that is refused too, look into the website’s log; resume the listener if it is paused.',
);
