import type { Collection } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isForgotten } from '../../listeners/listener-state.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';
import { serversWithOpenWork } from '../sweep.ts';

const SERVERS_A_STEP = 512;

type ReadDeps = { listeners: Collection<Listener>; votes: Collection<Vote> };

/**
 * The listeners that fetch and whose servers have votes waiting or taken, up to 512 at a time. The cost grows with the
 * number of servers that have such votes, not with the number of listeners.
 */
export async function* fetchingWithOpenVotes({ listeners, votes }: ReadDeps): AsyncGenerator<Listener[]> {
  const serverIds = await serversWithOpenWork(votes);
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    yield await listeners.find({ serverId, protocol: 'fetch' }).toArray();
  }
}

/**
 * The listeners that have not fetched for 10 minutes (`isForgotten`) while votes of their servers wait or are taken.
 */
export async function neglectedListeners(deps: ReadDeps & { clock: Clock }): Promise<Listener[]> {
  const now = deps.clock.now();
  const found: Listener[] = [];
  for await (const some of fetchingWithOpenVotes(deps)) {
    found.push(...some.filter((listener) => isForgotten(listener, now)));
  }
  return found;
}
