import type { Collection, Filter } from 'mongodb';
import { serversWith } from '../delivery/drain/lost-attempts.ts';
import { serversWithOpenWork } from '../delivery/sweep.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after, type Clock } from '../platform/clock.ts';
import type { Vote } from '../votes/vote.ts';
import { EXPIRING_MS } from './due-notifications.ts';

/** How many servers one query asks for. */
const SERVERS_A_STEP = 512;

/** A vote that waits for this long is about to expire. */
const LATE_MS = DELIVERY_EXPIRES_MS - EXPIRING_MS;

type LateDeps = { listeners: Collection<Listener>; votes: Collection<Vote>; clock: Clock };

/**
 * The listeners that fetch, are not paused, and have a waiting vote that was cast 48 hours ago or earlier: their votes
 * are fetched and answered `retry`, or too few are fetched. The cost is one step of an index for each server with open
 * votes, and one more for each of them that fetches.
 */
export async function lateFetches({ listeners, votes, clock }: LateDeps): Promise<Listener[]> {
  const late = lateVotes(clock.now());
  const serverIds = await serversWithOpenWork(votes);
  const found: Listener[] = [];
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    const fetching = await listeners.find({ serverId, protocol: 'fetch', pause: null }).toArray();
    if (fetching.length === 0) continue;
    const isLate = await serversWith(
      votes,
      fetching.map((listener) => listener.serverId),
      late,
    );
    found.push(...fetching.filter((listener) => isLate.has(listener.serverId.toHexString())));
  }
  return found;
}

/** The filter of waiting votes that were cast 48 hours before `now` or earlier. */
export function lateVotes(now: Date): Filter<Vote> {
  return { 'delivery.state': 'waiting', votedAt: { $lte: after(now, -LATE_MS) } };
}
