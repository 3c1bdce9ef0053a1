import type { Cause } from '../../listeners/causes.ts';
import type { OutcomeClass, OutcomeCode, Step } from '../../listeners/outcomes.ts';
import type { Attempt, DeliveryState } from '../../votes/vote.ts';
import type { Explanation } from '../diagnosis/explanation.ts';
import type { ListenerReason } from '../diagnosis/explanations.ts';
import type { WaitingFor } from '../waiting-for.ts';
import type { OlderAttempts } from './older-attempts.ts';

/** How a vote stands, and why. */
export type DeliveryStatus =
  /** It is not forwarded. */
  | { state: 'none'; why: 'imported' | 'no-listener' | 'listener-removed' }
  | {
      state: 'waiting';
      waitingFor: WaitingFor;
      /** Why its listener holds it, where it does. */
      reason: ListenerReason | null;
      /** Votes before it in the listener's line, counted up to `MOST_AHEAD`. */
      ahead: number;
      givenUpAt: Date | null;
    }
  | { state: 'sending'; since: Date | null }
  /** `confirmed`: the listener said so; false after a bare close in Votifier v1; null where it is not on record. */
  | { state: 'delivered'; at: Date | null; confirmed: boolean | null }
  | { state: 'unconfirmed'; resendableUntil: Date }
  | {
      state: 'failed';
      /** `refused`: by the listener; the last attempt says how. */
      why: 'refused' | 'expired' | 'server-removed';
      resendableUntil: Date;
    };

/** How an attempt ended. */
export type AttemptOutcome = Explanation & {
  code: OutcomeCode;
  class: OutcomeClass;
  /** How far it got; null where nobody knows. */
  reached: Step | null;
  /** What the listener said. */
  words: string | null;
  /** What Tallyport itself found. */
  detail: string | null;
  durationMs: number | null;
};

export type AttemptEvent = {
  kind: 'attempt';
  at: Date;
  id: string;
  /** From 1; null for one that was given back before anything was sent, which does not count. */
  number: number | null;
  /** It tested an unreachable listener. */
  test: boolean;
  protocol: Attempt['protocol'];
  worker: string;
  /** What started it; null where that is not on record. */
  wokenBy: Cause | null;
  /** The relay found it due: the call that was made for it had not come. */
  relayed: boolean;
  /** null: none is recorded. `underWay` says whether one will come. */
  end: AttemptOutcome | null;
  underWay: boolean;
  /** When it was acknowledged after it had been given up as lost. */
  lateAt: Date | null;
};

/** What happened to a vote. The kinds are stable: they stand in `--json` output. */
export type TimelineEvent =
  | { kind: 'accepted' | 'imported' | 'cooldown-ended'; at: Date }
  | { kind: 'expired' | 'listener-removed' | 'server-removed'; at: Date }
  | OlderAttempts
  | AttemptEvent
  /** The attempt of this number had been given up as lost, and was acknowledged after all. */
  | { kind: 'acknowledged-late'; at: Date; number: number | null }
  /** `mayArriveTwice`: it had arrived by then, or may have. null where it is not on record. */
  | {
      kind: 'resent';
      at: Date;
      by: string | null;
      from: DeliveryState | null;
      mayArriveTwice: boolean | null;
    }
  | { kind: 'excluded'; at: Date; exclusionId: string; by: string; reason: string };

/** A vote's story. */
export type VoteTimeline = {
  status: DeliveryStatus;
  /** It was sent more than once, and more than one of these arrived or may have. */
  mayHaveArrivedTwice: boolean;
  /** In order of time. */
  events: TimelineEvent[];
};
