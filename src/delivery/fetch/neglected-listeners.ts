import type { Collection } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isForgotten } from '../../listeners/listener-state.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';
import { serversWithOpenWork } from '../sweep.ts';

/** How many servers one query asks for. */
const SERVERS_A_STEP = 512;

type ReadDeps = { listeners: Collection<Listener>; votes: Collection<Vote> };

/**
 * The listeners that fetch and have open votes, up to 512 at a time. The cost is one step of an index for each server
 * with open votes, not for each listener.
 */
export async function* fetchingWithOpenVotes({ listeners, votes }: ReadDeps): AsyncGenerator<Listener[]> {
  const serverIds = await serversWithOpenWork(votes);
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    yield await listeners.find({ serverId, protocol: 'fetch' }).toArray();
  }
}

/** The listeners that fetch, are not paused, have open votes, and from which nobody has fetched for 10 minutes. */
export async function neglectedListeners(deps: ReadDeps & { clock: Clock }): Promise<Listener[]> {
  const now = deps.clock.now();
  const found: Listener[] = [];
  for await (const some of fetchingWithOpenVotes(deps)) {
    found.push(...some.filter((listener) => isForgotten(listener, now)));
  }
  return found;
}
