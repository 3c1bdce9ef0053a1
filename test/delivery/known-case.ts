import type { SendVote } from '../../src/delivery/send-vote.ts';
import type { Fault, OutcomeCode } from '../../src/listeners/outcomes.ts';
import type { DeliveryBench } from '../support/delivering.ts';

/** What Tallyport says about one case: the outcome of the test vote, the fault, and the sentences for the owner. */
export type Case = {
  name: string;
  /** Prepares the listener and stores its settings. */
  set: (bench: DeliveryBench) => Promise<unknown>;
  /** In place of the deadline of most tests, where one has to pass; it acts as 5 s. */
  timeoutMs?: number;
  /** Replaces the network in cases that no test can produce with a real one. */
  send?: SendVote;
  code: OutcomeCode;
  fault: Fault | null;
  cause: RegExp;
  advice: RegExp;
  reply?: string | null;
  detail?: RegExp;
};
