import type { ObjectId } from 'mongodb';
import type { Text } from '../../language/t.ts';
import type { Cause } from '../../listeners/causes.ts';
import type { Explanation } from '../../listeners/explanation.ts';
import type { OutcomeClass } from '../../listeners/outcomes/outcome-definition.ts';
import type { OutcomeCode, Step } from '../../listeners/outcomes.ts';
import type { Arrival } from '../../votes/arrival.ts';
import type { Attempt, DeliveryState } from '../../votes/vote.ts';
import type { ListenerReason } from '../diagnosis/listener-reason.ts';
import type { WaitingFor } from '../waiting-for.ts';
import type { OlderAttempts } from './older-attempts.ts';

export type DeliveryStatus =
  | { state: 'none'; why: 'imported' | 'no-listener' | 'listener-removed' | 'quarantined' | 'excluded' }
  | {
      state: 'waiting';
      waitingFor: WaitingFor;
      /** Null if the listener is neither paused nor unreachable, and from `briefStatus`. */
      reason: ListenerReason | null;
      /** Up to `MOST_AHEAD`; null from `briefStatus`. */
      ahead: number | null;
      givenUpAt: Date | null;
      /** The game server fetches its votes, here and below. */
      fetched: boolean;
    }
  | { state: 'sending'; since: Date | null; fetched: boolean }
  /** `confirmed`: null when not on record; false for `sent-not-confirmed`. */
  | { state: 'delivered'; at: Date | null; confirmed: boolean | null; fetched: boolean }
  /** `restored`: held back by a restore, and not sent since. `server-error`: HTTP 5xx or 408 to its only sending. */
  | {
      state: 'unconfirmed';
      why: 'no-answer' | 'server-error' | 'restored';
      resendableUntil: Date | null;
      fetched: boolean;
    }
  | {
      state: 'failed';
      why: 'refused' | 'expired' | 'server-removed';
      /** The cause of the refusal. */
      cause: Text | null;
      resendableUntil: Date | null;
    };

export type AttemptOutcome = Explanation & {
  code: OutcomeCode;
  class: OutcomeClass;
  reached: Step | null;
  words: string | null;
  /** What Tallyport found, such as the target of a redirect. */
  detail: string | null;
  durationMs: number | null;
};

export type AttemptEvent = {
  kind: 'attempt';
  at: Date;
  id: string;
  /** From 1; null if Tallyport itself failed or stopped. */
  number: number | null;
  /** Whether it was the test of an unreachable listener. */
  test: boolean;
  protocol: Attempt['protocol'];
  worker: string;
  /** Null when not on record. */
  wokenBy: Cause | null;
  /** The wake-up job was lost, and the sweep found the vote due. */
  relayed: boolean;
  /** If none is recorded, `underWay` says whether one will come. */
  end: AttemptOutcome | null;
  underWay: boolean;
  /** When the listener acknowledged it after it was recorded as lost. */
  lateAt: Date | null;
};

/** The kinds are stable: `--json` output contains them. */
export type TimelineEvent =
  | { kind: 'accepted' | 'imported' | 'cooldown-ended'; at: Date }
  | { kind: 'expired' | 'listener-removed' | 'server-removed' | 'released' | 'restored'; at: Date }
  | OlderAttempts
  | AttemptEvent
  /** The number of an attempt that was recorded as lost. */
  | { kind: 'acknowledged-late'; at: Date; number: number | null }
  /** `mayArriveTwice`: null when not on record. */
  | {
      kind: 'resent';
      at: Date;
      by: string | null;
      /** The address in `by` may have changed since. */
      byId?: ObjectId;
      from: DeliveryState | null;
      mayArriveTwice: boolean | null;
    }
  /** `reason` is null for an owner. */
  | { kind: 'quarantined'; at: Date; reason: string | null }
  /** A vote plugin claimed the vote with this token. */
  | { kind: 'claimed'; at: Date; tokenId: string }
  | {
      kind: 'excluded';
      at: Date;
      exclusionId: string;
      by: string;
      reason: string | null;
      reasonForOwner: string | null;
    };

export type VoteTimeline = {
  status: DeliveryStatus;
  arrival: Arrival;
  /** At least two sendings arrived or may have arrived. */
  mayHaveArrivedTwice: boolean;
  /** Only for the first vote with such a name, so that the owner is warned once. */
  nameMayBeMangled: boolean;
  events: TimelineEvent[];
};
