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
import type { Ended } from './record-outcomes.ts';

/** What draining works on. */
export type DrainDeps = RecordDeps & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  /** Shared with concurrent drains. */
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
  /** Called with the server's name when the drain begins, to show progress. */
  onBegin?: (server: string) => void;
  /** Called with every outcome and its listener as it was before, for metrics. */
  onOutcome?: (ended: Ended, listener: Listener) => void;
};

/** Why a drain stopped. */
export type DrainResult =
  /** Another worker drains this listener, and looks for due votes once more. */
  | { kind: 'busy' }
  /** Nothing is due. */
  | { kind: 'idle' }
  /** Its time is over, or a wake-up came meanwhile: more may be due. */
  | { kind: 'more' }
  /** The worker shuts down. */
  | { kind: 'stopped' }
  | { kind: 'paused' }
  /** The listener's state belongs to another queue. */
  | { kind: 'moved'; to: DeliveryQueue }
  /** An allowance of connections is used up until `until`. */
  | { kind: 'limited'; until: Date }
  /** The server or its listener is gone; the waiting votes were taken out of the queue. */
  | { kind: 'gone' }
  /** The breaker is open: the next test is due at that time. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainOptions = {
  /** The queue of the job. The drain ends when the listener's state belongs to another queue. */
  queue: DeliveryQueue;
  /** When aborted, no new attempts begin, and attempts that have not written yet are released. */
  stop: AbortSignal;
  /** When aborted, attempts that have written stop waiting for their answer. */
  waitNoLonger: AbortSignal;
  /** The job ends after this time, so that other listeners are drained too. */
  budgetMs: number;
  /** When the sweep found this work due, if the sweep added the job; stored in the attempts' records. */
  relayedAt?: Date | undefined;
};
