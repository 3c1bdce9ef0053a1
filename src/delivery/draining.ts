import type { Collection } from 'mongodb';
import type { Lanes } from '../batching/lanes.ts';
import type { OutgoingLimiting } from '../limits/outgoing-limit.ts';
import type { Logger } from '../log.ts';
import type { Server } from '../servers/server.ts';
import type { Claimed } from './after-end.ts';
import type { Recording } from './attempt-records.ts';
import type { Listener } from './listener.ts';
import type { Outcome } from './outcomes.ts';
import type { OpenedListener, Send } from './send-vote.ts';
import type { UnprovenPlaces } from './turn.ts';
import type { Yielding } from './yielding.ts';

/** What draining works on. */
export type Draining = Recording & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  /** Through which drains that run side by side share their operations. */
  lanes: Lanes;
  rateLimits: OutgoingLimiting['rateLimits'];
  config: Recording['config'] & OutgoingLimiting['config'] & { BREAKER_SCHEDULE: readonly number[] };
  log: Logger;
  /** Makes one attempt on the wire. */
  send: Send;
  /** Reads a listener's settings and secret, ready to send with. */
  open: (listener: Listener) => OpenedListener;
  /** This worker's places for listeners that are not known to answer. */
  unproven?: UnprovenPlaces;
  /** How this worker's backlogs make way for fresh votes. */
  yielding?: Yielding;
  /** Told of the server's name when its turn begins, for people who watch. */
  onBegin?: (server: string) => void;
  /** Told of every end, for metrics. */
  onEnd?: (claimed: Claimed, end: Outcome, durationMs: number) => void;
};

/** Why a drain stopped. */
export type DrainEnd =
  /** Another worker drains this listener. */
  | { kind: 'busy' }
  /** Nothing is due. */
  | { kind: 'idle' }
  /** Its time is over and more may be due. */
  | { kind: 'more' }
  /** We are stopping. */
  | { kind: 'stopped' }
  | { kind: 'paused' }
  /**
   * Nobody knows whether it answers, and others like it have every place, or an allowance of connections is used up:
   * its turn comes then.
   */
  | { kind: 'put-off'; until: Date }
  /** The server or its listener is gone; the waiting votes were taken out of the line. */
  | { kind: 'gone' }
  /** Unreachable: the next test is due then. */
  | { kind: 'unreachable'; server: string; waiting: number; nextTestAt: Date; since: Date; code: string };

export type DrainLimits = {
  /** New attempts stop when it is aborted, and those that have not written yet are given back. */
  stop: AbortSignal;
  /** Attempts that have written wait for their answer no longer than this. */
  waitNoLonger: AbortSignal;
  /** After this long the job makes room for others and comes back. */
  budgetMs: number;
  /** When the relay found this work due, where it was the relay that called; which the attempts' records say. */
  relayedAt?: Date | undefined;
  /** Whose votes go first (`turnOf`), as it was when this was called for; 0 by default. */
  turn?: number;
};
