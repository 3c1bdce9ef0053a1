import type { Collection } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isForgotten } from '../../listeners/listener-state.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';
import { serversWithOpenWork } from '../sweep.ts';

/** How many servers one query asks for. */
const SERVERS_A_STEP = 512;

type NeglectedDeps = { listeners: Collection<Listener>; votes: Collection<Vote>; clock: Clock };

/**
 * The listeners that fetch, are not paused, have open votes, and from which nobody has fetched for 10 minutes. The cost
 * is one step of an index for each server with open votes, not for each listener.
 */
export async function neglectedListeners({ listeners, votes, clock }: NeglectedDeps): Promise<Listener[]> {
  const now = clock.now();
  const serverIds = await serversWithOpenWork(votes);
  const found: Listener[] = [];
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    const fetching = await listeners.find({ serverId, protocol: 'fetch' }).toArray();
    found.push(...fetching.filter((listener) => isForgotten(listener, now)));
  }
  return found;
}
