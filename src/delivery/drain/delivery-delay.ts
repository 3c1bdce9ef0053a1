import type { Listener } from '../../listeners/listener.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import type { Ended } from './record-outcomes.ts';

/**
 * How long Tallyport delayed a delivered vote, in milliseconds: since it was queued or, if later, since its listener
 * was resumed, changed or reachable again (docs/adr/0100-delivery-objective.md).
 *
 * @returns null if the vote is not delivered, was resent by hand or tested an unreachable listener, or if an earlier
 *   attempt failed because of the listener
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

/** Whether an attempt with this outcome failed because of the listener, and not because of Tallyport. */
function isOfListener(code: OutcomeCode): boolean {
  const { class: kind, isOurs } = outcomeOf(code);
  return kind !== 'none' && kind !== 'delivered' && !isOurs;
}
