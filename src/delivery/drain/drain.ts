import type { Collection } from 'mongodb';
import type { DeliveryQueue } from '../../listeners/delivery-queues.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import type { OutgoingLimiting } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import type { Server } from '../../servers/server.ts';
import type { OpenedListener, Send } from '../send-vote.ts';
import type { Recording } from './attempt-record.ts';
import type { BacklogThrottle } from './backlog-throttle.ts';
import type { Ended } from './record-outcomes.ts';

/** What draining works on. */
export type Draining = Recording & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  /** Shared with the drains that run side by side. */
  batcher: Batcher;
  rateLimits: OutgoingLimiting['rateLimits'];
  config: Recording['config'] & OutgoingLimiting['config'] & { BREAKER_SCHEDULE: readonly number[] };
  log: Logger;
  /** Makes one attempt on the network. */
  send: Send;
  /** Reads a listener's settings and secret, ready to send with. */
  open: (listener: Listener) => OpenedListener;
  /** Slows down backlogs while this worker forwards fresh votes. */
  throttle?: BacklogThrottle;
  /** Called with the server's name when the drain begins, for users who watch. */
  onBegin?: (server: string) => void;
  /** Called with every outcome, for metrics. */
  onEnd?: (ended: Ended) => void;
};

/** Why a drain stopped. */
export type DrainResult =
  /** Another worker drains this listener, and looks for due votes once more. */
  | { kind: 'busy' }
  /** Nothing is due. */
  | { kind: 'idle' }
  /** Its time is over, or a wake-up came meanwhile: more may be due. */
  | { kind: 'more' }
  /** The worker stops. */
  | { kind: 'stopped' }
  | { kind: 'paused' }
  /** The listener's state is that of another queue. */
  | { kind: 'moved'; to: DeliveryQueue }
  /** An allowance of connections is used up until then. */
  | { kind: 'limited'; until: Date }
  /** The server or its listener is gone; the waiting votes were taken out of the queue. */
  | { kind: 'gone' }
  /** The breaker is open: the next test is due then. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainOptions = {
  /** The queue that the job is of. It ends when the listener's state is that of another one. */
  queue: DeliveryQueue;
  /** New attempts stop when it is aborted, and those that have not written yet are released. */
  stop: AbortSignal;
  /** Attempts that have written wait for their answer no longer than this. */
  waitNoLonger: AbortSignal;
  /** After this long the job ends, so that other listeners have their turn. */
  budgetMs: number;
  /** When the relay found this work due, where it was the relay that called; the attempts' records say it. */
  relayedAt?: Date | undefined;
};
