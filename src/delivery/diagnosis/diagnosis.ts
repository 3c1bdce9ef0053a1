import type { Text } from '../../language/t.ts';
import type { OutcomeClass } from '../../listeners/outcomes.ts';
import type { DiagnosisStep } from './diagnosis-steps.ts';
import type { Fault } from './faults.ts';

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
