import type { GoalRound } from '../../goals/goal.ts';
import { markAnnounced, unannouncedRounds } from '../../goals/goal-rounds.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { type NewEvent, storeEvents } from '../store-events.ts';

/** Stores the events of rounds that have none yet. */
export async function announceRounds(deps: EventsDeps): Promise<void> {
  const rounds = await unannouncedRounds(deps);
  for (const some of Map.groupBy(rounds, ({ serverId }) => serverId.toHexString()).values()) {
    const [{ serverId }] = some as [GoalRound];
    await storeEvents(deps, serverId, some.map(roundEvent));
    await markAnnounced(deps, some);
  }
}

function roundEvent({ goalId, round, target, period, text, votes, at }: GoalRound): NewEvent {
  return {
    _id: eventIdOf('goal.reached', `${goalId.toHexString()}:${round}`),
    type: 'goal.reached',
    at,
    data: { goal_id: goalId.toHexString(), round, target, period, votes, goal_text: text ?? null },
  };
}
