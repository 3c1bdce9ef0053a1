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
  /** The vote is not forwarded. */
  | { state: 'none'; why: 'imported' | 'no-listener' | 'listener-removed' | 'quarantined' | 'excluded' }
  | {
      state: 'waiting';
      waitingFor: WaitingFor;
      /**
       * Why the listener is paused or unreachable. Null if it is neither, if there is no listener, and always from
       * `briefStatus`.
       */
      reason: ListenerReason | null;
      /** How many votes are before this one in its listener's queue, up to `MOST_AHEAD`; null from `briefStatus`. */
      ahead: number | null;
      givenUpAt: Date | null;
      /** Whether the game server fetches its votes. */
      fetched: boolean;
    }
  /** If `fetched`, the game server has fetched the vote and not reported its result yet. */
  | { state: 'sending'; since: Date | null; fetched: boolean }
  /**
   * `confirmed`: whether the listener acknowledged the vote; null when that is not on record. False if a Votifier v1
   * listener closed the connection without an answer, or a taker reported `sent`. `fetched`: the game server fetched
   * the vote.
   */
  | { state: 'delivered'; at: Date | null; confirmed: boolean | null; fetched: boolean }
  /**
   * `restored`: in a backup that was restored, the vote was waiting, being sent, held or held back, and it has not been
   * sent since.
   * `server-error`: the website answered with HTTP 5xx or 408, and the vote may be sent only once.
   * `fetched`: in its last attempt the game server fetched it.
   */
  | {
      state: 'unconfirmed';
      why: 'no-answer' | 'server-error' | 'restored';
      resendableUntil: Date | null;
      fetched: boolean;
    }
  | {
      state: 'failed';
      why: 'refused' | 'expired' | 'server-removed';
      /** Why the listener refused the vote. */
      cause: Text | null;
      resendableUntil: Date | null;
    };

export type AttemptOutcome = Explanation & {
  code: OutcomeCode;
  class: OutcomeClass;
  /** How far the attempt got; null when that is unknown. */
  reached: Step | null;
  /** The listener's message. */
  words: string | null;
  /** What Tallyport itself found, such as the target of a redirect. */
  detail: string | null;
  durationMs: number | null;
};

export type AttemptEvent = {
  kind: 'attempt';
  at: Date;
  id: string;
  /** Counted from 1; null if the attempt does not count, because Tallyport itself failed or stopped. */
  number: number | null;
  /** Whether the attempt tested an unreachable listener. */
  test: boolean;
  protocol: Attempt['protocol'];
  worker: string;
  /** What started the attempt; null when that is not on record. */
  wokenBy: Cause | null;
  /** Whether the sweep found the vote due because its wake-up job was lost. */
  relayed: boolean;
  /** The outcome; null when none is recorded. `underWay` says whether one will come. */
  end: AttemptOutcome | null;
  underWay: boolean;
  /** If the listener acknowledged this attempt after it was recorded as lost: when. Otherwise null. */
  lateAt: Date | null;
};

/** The events of a vote. The kinds are stable: `--json` output contains them. */
export type TimelineEvent =
  | { kind: 'accepted' | 'imported' | 'cooldown-ended'; at: Date }
  | { kind: 'expired' | 'listener-removed' | 'server-removed' | 'released' | 'restored'; at: Date }
  | OlderAttempts
  | AttemptEvent
  /** The attempt with this number was recorded as lost and was acknowledged later. */
  | { kind: 'acknowledged-late'; at: Date; number: number | null }
  /** `mayArriveTwice`: whether the vote had arrived before, or may have; null when that is not on record. */
  | {
      kind: 'resent';
      at: Date;
      by: string | null;
      /** The user's id, if it is on record: the address in `by` may have changed since. */
      byId?: ObjectId;
      from: DeliveryState | null;
      mayArriveTwice: boolean | null;
    }
  /** If the timeline is shown to an owner, `reason` is null (see owner-events.ts). */
  | { kind: 'quarantined'; at: Date; reason: string | null }
  /** A vote plugin claimed the vote with the token of this id. */
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
  /** The vote was sent more than once, and at least two of these sendings arrived or may have arrived. */
  mayHaveArrivedTwice: boolean;
  /** True for the first vote with a name that a Votifier v1 listener may mangle, so that the owner is warned once. */
  nameMayBeMangled: boolean;
  /** In chronological order. */
  events: TimelineEvent[];
};
