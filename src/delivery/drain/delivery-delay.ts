import type { Listener } from '../../listeners/listener.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import type { Ended } from './record-outcomes.ts';

/**
 * Since the vote was queued or, if later, its listener was resumed, changed or reachable again
 * (docs/adr/0100-delivery-objective.md). Null if it is not delivered, was resent by hand, tested an unreachable
 * listener, or an earlier attempt failed because of the listener.
 */
export function deliveryDelayMs(
  { taken: { vote, attempt }, outcome }: Ended,
  { released }: Pick<Listener, 'released'>,
  now: Date,
): number | null {
  const { events, codes = {}, queuedAt } = vote.delivery;
  if (outcome.class !== 'delivered' || attempt.test) return null;
  if (events.some(({ kind }) => kind === 'resent')) return null;
  if ((Object.keys(codes) as OutcomeCode[]).some(isOfListener)) return null;
  const since = Math.max((queuedAt ?? vote.votedAt).getTime(), released?.at.getTime() ?? 0);
  return Math.max(0, now.getTime() - since);
}

function isOfListener(code: OutcomeCode): boolean {
  const { class: kind, isOurs } = outcomeOf(code);
  return kind !== 'none' && kind !== 'delivered' && !isOurs;
}
