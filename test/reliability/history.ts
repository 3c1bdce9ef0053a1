import type { OutcomeClass } from '../../src/listeners/outcomes/outcome-definition.ts';
import type { OutcomeCode } from '../../src/listeners/outcomes.ts';
import type { DeliveryState } from '../../src/votes/vote.ts';

/** A call to cast a vote, as its caller saw it. Times are milliseconds since 1970, all of one clock. */
export type Call = {
  serverId: string;
  /** As typed; players' names differ in more than case. */
  username: string;
  idempotencyKey?: string;
  startedAt: number;
  endedAt: number;
  /** The answer; `unknown` when the connection broke, no answer came in time, or a 5xx left it open. */
  answer:
    | { kind: 'accepted'; voteId: string; nextVoteAt: number; monthlyVotes: number }
    | { kind: 'refused'; nextVoteAt: number }
    | { kind: 'unknown'; reason?: string };
};

/** A vote that a listener took, as the listener noted it, in the order of receipt. */
export type Receipt = {
  serverId: string;
  receivedAt: number;
  username: string;
  /** The time of the vote that the message carried. */
  votedAt: number;
  /** The vote's id; v1 carries none. */
  voteId?: string;
};

/** An event that a server's destination took, in the order of receipt. */
export type EventReceipt = {
  serverId: string;
  /** The header `webhook-id`. */
  eventId: string;
  type: string;
  /** The vote's id, or `round 3` of a goal. */
  about: string;
};

/** A vote as it is stored in the end. */
export type StoredVote = {
  voteId: string;
  serverId: string;
  username: string;
  votedAt: number;
  state: DeliveryState;
  deliveredAt?: number;
  attemptCount: number;
  /** The newest attempts; all of them unless there are more than the timeline stores. */
  attempts: {
    at: number;
    code?: OutcomeCode;
    class?: OutcomeClass;
    /** It had been given up as lost before its acknowledgement came. */
    late?: true;
  }[];
  ends: Partial<Record<OutcomeClass, number>>;
  /** How often its listener answered 5xx or 408: it may have taken the vote even so. */
  serverErrors: number;
  /** How often it was resent by hand. */
  resends: number;
};

/** A server and the behaviour of its listener. */
export type Listed = {
  serverId: string;
  listener: 'working' | 'always-failing';
  /** How often a vote may be sent without an answer. */
  maxSendings: number;
  /** Its votes are fetched by several programs at once, which may reorder them. */
  mayReorder?: true;
  /** The votes of this month and of all time, as the API says after the counters were repaired. */
  counted: { monthly: number; allTime: number };
  /** Of its rolling goal, in votes. Only of a server whose events go to a working destination. */
  goalTarget?: number;
};

/** Everything that happened, as seen from outside, and the stored data in the end. */
export type History = {
  calls: Call[];
  receipts: Receipt[];
  events: EventReceipt[];
  votes: StoredVote[];
  servers: Listed[];
  /** Each process that ended without being killed on purpose, and how. */
  crashes: string[];
  /** By how many votes the counters were wrong when they were repaired. */
  drifts: number;
  /** When the last fault ended. */
  faultsEndedAt: number;
  /** When the counters were repaired; every later call was made without faults, for a new player. */
  repairedAt: number;
};
