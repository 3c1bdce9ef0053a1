import { defineMessage } from '../../language/t.ts';
import type { Breaker, Listener, Protocol } from '../../listeners/listener.ts';
import { hasTakenVotes } from '../../listeners/listener-state.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';
import { explain } from './explanations.ts';

/** Why a listener is not active, since when, and what to do about it. */
export type ListenerReason = Explanation & {
  /** Absent when its owner paused it. */
  code?: OutcomeCode;
  /** The listener's message, if it sent one. */
  words?: string;
  /** What Tallyport itself found. */
  detail?: string;
  since: Date;
};

/** Why a listener is paused or unreachable; null when it is active. */
export function listenerReason(listener: Explained): ListenerReason | null {
  const { pause, breaker } = listener;
  if (pause) return reason(pause, pause.at, listener);
  return breaker.openSince ? reason(breaker, breaker.openSince, listener) : null;
}

/** The fields of a listener that its explanations depend on. */
type Explained = Pick<Listener, 'pause' | 'breaker'> & Taken & { protocol?: Protocol };
export type Taken = Partial<Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>>;

/** Whether a listener has taken a vote with its current settings; false where the fields were not read. */
export function hasTaken({ acknowledgedAt, lastDeliveredAt = null, updatedAt }: Taken): boolean {
  if (!updatedAt) return !!acknowledgedAt;
  return hasTakenVotes({
    lastDeliveredAt,
    updatedAt,
    ...(acknowledgedAt === undefined ? {} : { acknowledgedAt }),
  });
}

const PAUSED_BY_OWNER: Explanation = {
  cause: defineMessage('Its owner paused it.'),
  advice: defineMessage('Resume it to receive votes again: waiting votes are sent then.'),
};

function reason(
  { code, words, detail }: Pick<Breaker, 'code' | 'words' | 'detail'>,
  since: Date,
  listener: Explained,
): ListenerReason {
  const explanation = code
    ? { code, ...explain(code, listener.protocol, hasTaken(listener)) }
    : PAUSED_BY_OWNER;
  return { ...explanation, ...(words ? { words } : {}), ...(detail ? { detail } : {}), since };
}
