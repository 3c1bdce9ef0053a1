import type { ObjectId } from 'mongodb';
import type { GoalRound, VoteGoal } from '../../goals/goal.ts';
import { after } from '../../platform/clock.ts';
import type { EventsDeps } from '../deps.ts';
import { EVENT_TTL_MS, eventIdOf } from '../event.ts';
import { numberText } from '../event-text.ts';
import { type NewEvent, storeEvents } from '../store-events.ts';

/** Stores the events of rounds that have none yet. Older rounds than events are kept have none any more. */
export async function announceRounds(deps: EventsDeps, serverId: ObjectId): Promise<void> {
  const { goalRounds, voteGoals, clock } = deps;
  const at = { $gt: after(clock.now(), -EVENT_TTL_MS) };
  const rounds = await goalRounds.find({ serverId, at, announcedAt: { $exists: false } }).toArray();
  if (rounds.length === 0) return;
  const goal = await voteGoals.findOne({ serverId });
  await storeEvents(
    deps,
    serverId,
    rounds.map((round) => roundEvent(round, goal?._id.equals(round.goalId) ? goal : null)),
  );
  const announced = { _id: { $in: rounds.map(({ _id }) => _id) } };
  await goalRounds.updateMany(announced, { $set: { announcedAt: clock.now() } });
}

/** `goal`: null if the owner has replaced or removed it meanwhile. */
function roundEvent({ goalId, round, target, votes, at }: GoalRound, goal: VoteGoal | null): NewEvent {
  const text = goal?.text ?? null;
  return {
    _id: eventIdOf('goal.reached', `${goalId.toHexString()}:${round}`),
    type: 'goal.reached',
    at,
    data: {
      goal_id: goalId.toHexString(),
      round,
      target,
      period: goal?.period ?? null,
      votes,
      goal_text: text,
    },
    text: {
      subject: `the vote goal of ${numberText(target)} votes is reached`,
      paragraphs: [...(text ? [text] : []), 'The server’s page:'],
      part: '',
    },
  };
}
