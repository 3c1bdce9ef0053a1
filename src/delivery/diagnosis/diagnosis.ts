import type { Explanation } from '../../listeners/explanation.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { DiagnosisStep, OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import { type Fault, type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';

/** Called when a step begins. All earlier steps have then succeeded. Must not throw. */
export type OnStep = (step: DiagnosisStep) => void;

/** The first thing that is wrong with a listener, with its cause and what to do about it. */
export type Diagnosis = Explanation & {
  /** The class of the test vote's outcome. `sent-not-confirmed`: a v1 listener closed without an answer. */
  outcome: OutcomeClass | 'sent-not-confirmed';
  /** Whether the listener acknowledged the test vote. If a Votifier v1 listener only closed the connection: false. */
  confirmed: boolean;
  /** null when nothing is known to be wrong. */
  fault: Fault | null;
  /** The step that failed, or the last one that was checked; all earlier steps succeeded. */
  step: DiagnosisStep;
  /** The text that the service answered, at most 200 printable characters. */
  reply?: string;
  /** True if an answer is hidden from the owner, because the service may belong to somebody else. */
  isReplyHidden?: true;
  /** What Tallyport found: a redirect's target, its TLS library's error message, or the `User-Agent` of a take. */
  detail?: string;
};

/**
 * The fault of an outcome, null if it is not a known fault, and the step at which the test vote stopped.
 *
 * @param isSlow - whether a v1 listener that neither answers nor closes the connection is slow (`isSlowV1`); otherwise
 *   its key is probably different
 */
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
