import type { Collection } from 'mongodb';
import type { DeliveryQueue } from '../../listeners/delivery-queues.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { AddressRanges } from '../../platform/address-guard.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import type { OutgoingLimitDeps } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import type { Server } from '../../servers/server.ts';
import type { OpenedListener, Send } from '../send-vote.ts';
import type { RecordDeps } from './attempt-record.ts';
import type { BacklogThrottle } from './backlog-throttle.ts';
import type { KeptTurn } from './kept-leases.ts';
import type { Ended } from './record-outcomes.ts';

/** The dependencies of a drain. */
export type DrainDeps = RecordDeps & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  /** Shared with the other drains of this queue. */
  batcher: Batcher;
  rateLimits: OutgoingLimitDeps['rateLimits'];
  config: RecordDeps['config'] &
    OutgoingLimitDeps['config'] &
    AddressRanges & { BREAKER_SCHEDULE: readonly number[] };
  log: Logger;
  /** Makes one attempt on the network. */
  send: Send;
  /** Reads a listener's settings and opens its secret. */
  open: (listener: Listener) => OpenedListener;
  /** Slows down backlogs while this worker forwards fresh votes. */
  throttle?: BacklogThrottle;
  /** Called with the server's name when the drain begins; shows progress. */
  onBegin?: (server: string) => void;
  /** Called with every outcome and the listener as it was before the outcome; for metrics. */
  onOutcome?: (ended: Ended, listener: Listener) => void;
};

/** Why a drain stopped. */
export type DrainResult =
  /**
   * Another worker has the lease, and will look for due votes once more: when it releases the lease, and at once if it
   * `listens`.
   */
  | { kind: 'busy'; listens?: true }
  /** Nothing is due. */
  | { kind: 'idle' }
  /** The time of the job is used up, or a wake-up job arrived meanwhile: more votes may be due. */
  | { kind: 'more' }
  /** The worker shuts down. */
  | { kind: 'stopped' }
  | { kind: 'paused' }
  /** The listener's state has changed, and another queue handles it now. */
  | { kind: 'moved'; to: DeliveryQueue }
  /** The allowance of connections is used up until `until`. */
  | { kind: 'limited'; until: Date }
  /** The listener fetches its votes since the job was added. */
  | { kind: 'fetches' }
  /** The server or its listener was removed, and the waiting votes were taken out of the queue. */
  | { kind: 'gone' }
  /** The breaker is open: the next test is due at that time. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainOptions = {
  /** The queue of the job. If the listener's state changes so that another queue handles it, the drain ends. */
  queue: DeliveryQueue;
  /** When aborted, no new attempt begins, and votes are given back unless something of them was written. */
  stop: AbortSignal;
  /** When aborted, attempts that have written their vote stop waiting for the answer. */
  waitNoLonger: AbortSignal;
  /** Keeps the lease when no vote is due; absent if it is released then. */
  kept?: KeptTurn | undefined;
  /** After this time the drain ends, so that other listeners are drained too. */
  budgetMs: number;
  /** When the sweep found this work due, if the sweep added the job. Stored with the attempts. */
  relayedAt?: Date | undefined;
};
