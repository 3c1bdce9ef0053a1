import { type Explanation, explanation } from '../../listeners/explanation.ts';
import type { Breaker, Listener } from '../../listeners/listener.ts';
import { hasAcknowledged } from '../../listeners/listener-state.ts';
import { type OutcomeCode, type OutcomeText, saidIn } from '../../listeners/outcomes.ts';
import { explain, type Known } from './explain.ts';

export type ListenerReason = Explanation & {
  /** Absent if its owner paused it. */
  code?: OutcomeCode;
  words?: string;
  detail?: string;
  since: Date;
};

type Stopped = Explained & Pick<Listener, 'pause' | 'breaker'>;

export function listenerReason(listener: Stopped): ListenerReason | null {
  const { pause, breaker } = listener;
  if (pause) return reason(pause, pause.at, listener);
  return breaker.openSince ? reason(breaker, breaker.openSince, listener) : null;
}

export const REASON_FIELDS = {
  pause: 1,
  breaker: 1,
  protocol: 1,
  serviceName: 1,
  detected: 1,
  acknowledgedAt: 1,
  lastDeliveredAt: 1,
  tested: 1,
  updatedAt: 1,
} as const;

/** A field that was not read counts as unknown. */
export type Explained = Taken & Partial<Pick<Listener, 'protocol' | 'serviceName' | 'detected'>>;
type Taken = Partial<Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'tested' | 'updatedAt'>>;

export function explainFor(listener: Explained, code: OutcomeCode, said: OutcomeText = {}): Explanation {
  return explain(code, listener.protocol, { ...knownOf(listener), ...said });
}

export function knownOf(listener: Explained): Known {
  const { serviceName, detected, updatedAt } = listener;
  const isOfSettings = detected && updatedAt && detected.at >= updatedAt;
  return { hasTaken: hasTaken(listener), serviceName, service: isOfSettings ? detected.service : null };
}

/** With its current settings. If `updatedAt` was not read, only the stored time of its first vote decides. */
export function hasTaken({ updatedAt, lastDeliveredAt = null, ...rest }: Taken): boolean {
  return updatedAt ? hasAcknowledged({ ...rest, lastDeliveredAt, updatedAt }) : !!rest.acknowledgedAt;
}

const PAUSED_BY_OWNER = explanation(
  'Its owner paused it.',
  'Resume it to receive votes again: waiting votes are sent then.',
);

function reason(
  { code, words, detail }: Pick<Breaker, 'code' | 'words' | 'detail'>,
  since: Date,
  listener: Explained,
): ListenerReason {
  const said = saidIn({ words, detail });
  const explained = code ? { code, ...explainFor(listener, code, said) } : PAUSED_BY_OWNER;
  return { ...explained, ...said, since };
}
