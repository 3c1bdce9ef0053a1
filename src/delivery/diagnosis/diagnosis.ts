import type { Explanation } from '../../listeners/explanation.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { DiagnosisStep, OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import { type Fault, type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';

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
