import type { ListenerProof } from '../listeners/listener.ts';
import type { EventsDeps } from './deps.ts';
import type { ResolvedEvent } from './resolve-events.ts';
import type { Subscription } from './subscription.ts';

/**
 * `retry`: again by the schedule. `refused`: never again. `waits`: a limit of ours or of Discord; neither an attempt nor
 * a failure is counted.
 */
export type EventOutcome = {
  eventId: string;
  end: 'sent' | 'retry' | 'refused' | 'waits';
  /** Of HTTP; absent without an answer. */
  status?: number;
  /** What the owner sees: a code of our outcomes, or `code: answer`. Without secrets and players' names. */
  reason?: string;
  durationMs: number;
};

export type DestinationResult = {
  /** An event without an outcome was not tried and stays due. */
  outcomes: EventOutcome[];
  /** Why nothing will ever be accepted: the subscription is paused. */
  isGone?: string;
  /** The peer, or a limit, asked for this delay before the next message. */
  waitMs?: number;
  /** The addresses that repeated a challenge, if there is a new one. */
  proven?: ListenerProof[];
};

/** `signal` ends the wait for answers too. `isTest`: an HTTP address must repeat a challenge, even a proven one. */
export type SendHow = { signal: AbortSignal; mayStart: () => boolean; isTest?: boolean };

/** Never throws for anything that the peer does. @throws {UnsealError} when the stored secret cannot be read */
export type SendToDestination = (
  deps: EventsDeps,
  subscription: Subscription,
  events: ResolvedEvent[],
  how: SendHow,
) => Promise<DestinationResult>;
