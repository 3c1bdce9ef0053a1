import type { DeliveryQueue } from '../../listeners/delivery-queues.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { DeliveryDeps } from '../deps.ts';
import type { OpenedListener, SendVote } from '../send-vote.ts';
import type { BacklogThrottle } from './backlog-throttle.ts';
import type { KeptTurn } from './kept-leases.ts';
import type { Ended } from './record-outcomes.ts';

export type DrainDeps = DeliveryDeps & {
  open: (listener: Listener) => OpenedListener;
  send: SendVote;
  /** Slows down backlogs while this worker forwards fresh votes. */
  throttle?: BacklogThrottle;
  /** Called with the server's name when the drain begins; shows it in Bull Board. */
  onBegin?: (server: string) => void;
  /** Called with the outcome of an attempt, and the listener as it was before the outcome; for metrics. */
  onOutcome?: (ended: Ended, listener: Listener) => void;
};

export type DrainResult =
  /**
   * Another worker has the lease and looks for due votes again: at once if it `listens`, otherwise when it releases the
   * lease.
   */
  | { kind: 'busy'; listens?: true }
  /** Nothing is due. */
  | { kind: 'idle' }
  /** The drain has run for its whole `budgetMs`: more votes may be due. */
  | { kind: 'more' }
  /** The worker shuts down. */
  | { kind: 'stopped' }
  /** The listener is paused: no vote may be sent. */
  | { kind: 'paused' }
  /** The listener's state has changed, and another queue handles it now. */
  | { kind: 'moved'; to: DeliveryQueue }
  /** A limit allows no further connection before `until`. */
  | { kind: 'limited'; until: Date }
  /** The listener fetches its votes: nothing is sent to it. */
  | { kind: 'fetches' }
  /** The server or its listener was removed, and the waiting votes were taken out of the queue. */
  | { kind: 'gone' }
  /** The breaker has been open since `since` because of `code`: the next test is due at `nextTestAt`. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainOptions = {
  /** The queue of the job. If the listener's state changes so that another queue handles it, the drain ends. */
  queue: DeliveryQueue;
  /** When aborted, no new attempt begins, and votes whose sending has not begun are given back (design rule 12). */
  stop: AbortSignal;
  /** When aborted, attempts that have written their vote stop waiting for the answer. */
  waitNoLonger: AbortSignal;
  /** Keeps the lease when no vote is due. If absent, the lease is released. */
  kept?: KeptTurn | undefined;
  /** After this time the drain ends, so that other listeners are drained too. */
  budgetMs: number;
  /** When the sweep found due work of this listener, if the sweep added the job. */
  relayedAt?: Date | undefined;
};
