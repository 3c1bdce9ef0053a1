import type { CountChange } from '../../votes/exclusions/finish-exclusion.ts';
import { monthOf } from '../../votes/vote-counts.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { type NewEvent, storeEvents, wantedKinds } from '../store-events.ts';
import { countedEvent } from './counted-votes.ts';
import { countMonthsBefore } from './month-numbers.ts';

/**
 * Stores the events of votes that an operator's decision takes out of the counts or lets count. Call it before the
 * votes change: after a crash the decision is carried out again, and the same events are stored under the same ids.
 */
export async function storeCountChange(deps: EventsDeps, change: CountChange): Promise<void> {
  const { serverId, becomes } = change;
  if (!(await wantedKinds(deps, serverId)).has('vote.counted')) return;
  const events =
    becomes === 'excluded' ? excludedEvents(change, deps.clock.now()) : await countedAgain(deps, change);
  await storeEvents(deps, serverId, events);
}

function excludedEvents({ exclusionId, votes }: CountChange, at: Date): NewEvent[] {
  return votes.map(({ _id, votedAt }) => ({
    _id: eventIdOf('vote.excluded', `${_id.toString()}:${exclusionId.toHexString()}`),
    type: 'vote.excluded',
    at,
    of: votedAt,
    voteId: _id,
    data: { voted_at: votedAt.toISOString() },
  }));
}

/**
 * A vote that was held gets the event that it would have got when it was cast, for the subscriptions of this moment: if a
 * late look finds it too, it is stored once. Its number is that of the month's next counted vote.
 */
async function countedAgain(
  deps: EventsDeps,
  { serverId, exclusionId, wereHeld, votes }: CountChange,
): Promise<NewEvent[]> {
  const at = deps.clock.now();
  const again = wereHeld ? '' : `:${exclusionId.toHexString()}`;
  const events: NewEvent[] = [];
  for (const [month, some] of Map.groupBy(votes, ({ votedAt }) => monthOf(votedAt))) {
    const end = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1) - 1);
    const counted = (await countMonthsBefore(deps, [serverId], at < end ? at : end))(serverId);
    events.push(
      ...some.map((vote, i) =>
        countedEvent(vote, counted.votes + i + 1, { at, again, ...(wereHeld ? { of: at } : {}) }),
      ),
    );
  }
  return events;
}
