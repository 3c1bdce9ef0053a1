import type { ObjectId } from 'mongodb';
import { countersLoader, figuresAt } from '../../votes/vote-figures.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { type NewEvent, storeEvents } from '../store-events.ts';
import type { VoteWatch } from './vote-watch.ts';

/** 100, 250, 500, 1,000, 2,500, …: the highest up to `votes`, or 0. */
export function milestoneUpTo(votes: number): number {
  let highest = 0;
  for (let unit = 100; unit <= votes; unit *= 10)
    for (const one of [unit, 2.5 * unit, 5 * unit]) if (one <= votes) highest = one;
  return highest;
}

export type Watching = {
  serverId: ObjectId;
  /** Of its watch. */
  milestone: VoteWatch['milestone'];
  /** Votes whose events this look stored. */
  newVotes: number;
};

/**
 * Stores the event of each server whose votes of all time have passed a milestone; of several at once the highest.
 * Returns the milestones that its watches need to remember, by server.
 */
export async function announceMilestones(
  deps: EventsDeps,
  servers: Watching[],
): Promise<Map<string, number>> {
  const passed = new Map<string, number>();
  if (servers.length === 0) return passed;
  const { batcher, voteCounters, clock } = deps;
  const now = clock.now();
  const totals = await Promise.all(
    servers.map(async ({ serverId }) => {
      const counters = await batcher.load(countersLoader, voteCounters, serverId);
      return figuresAt(now, counters).allTimeVotes;
    }),
  );
  for (const [index, { serverId, milestone, newVotes }] of servers.entries()) {
    const id = serverId.toHexString();
    const total = totals[index] ?? 0;
    const before = milestone ?? milestoneUpTo(total - newVotes);
    const reached = milestoneUpTo(total);
    if (reached > before) await storeMilestone(deps, serverId, reached);
    if (reached > before || milestone == null) passed.set(id, Math.max(reached, before));
  }
  return passed;
}

async function storeMilestone(deps: EventsDeps, serverId: ObjectId, votes: number): Promise<void> {
  const event: NewEvent = {
    _id: eventIdOf('milestone', `${serverId.toHexString()}:${votes}`),
    type: 'milestone',
    at: deps.clock.now(),
    data: { votes },
  };
  await storeEvents(deps, serverId, [event]);
}
