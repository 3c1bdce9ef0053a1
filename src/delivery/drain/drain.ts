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
  /** While this worker forwards fresh votes. */
  throttle?: BacklogThrottle;
  /** Shows the server's name in Bull Board. */
  onBegin?: (server: string) => void;
  /** With the listener as it was before the outcome; for metrics. */
  onOutcome?: (ended: Ended, listener: Listener) => void;
};

export type DrainResult =
  /** Another worker looks for due votes again: at once if it `listens`, otherwise when it releases the lease. */
  | { kind: 'busy'; listens?: true }
  | { kind: 'idle' }
  /** After its whole `budgetMs`: more votes may be due. */
  | { kind: 'more' }
  /** The worker shuts down. */
  | { kind: 'stopped' }
  | { kind: 'paused' }
  /** The listener's state has changed, and another queue handles it. */
  | { kind: 'moved'; to: DeliveryQueue }
  | { kind: 'limited'; until: Date }
  | { kind: 'fetches' }
  /** The server or its listener was removed, and the waiting votes left the queue. */
  | { kind: 'gone' }
  /** The breaker is open. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainOptions = {
  /** If another queue handles the listener, the drain ends. */
  queue: DeliveryQueue;
  /** No new attempt begins, and votes whose sending has not begun are given back (design rule 12). */
  stop: AbortSignal;
  /** Attempts that have written their vote stop waiting for the answer. */
  waitNoLonger: AbortSignal;
  /** Keeps the lease when no vote is due. */
  kept?: KeptTurn | undefined;
  /** Other listeners must be drained too. */
  budgetMs: number;
  /** When the sweep found due work, if it added the job. */
  relayedAt?: Date | undefined;
};
