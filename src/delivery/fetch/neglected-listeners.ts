import type { Listener } from '../../listeners/listener.ts';
import { FORGOTTEN_AFTER_MS, isForgotten } from '../../listeners/listener-state.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { after } from '../../platform/clock.ts';
import type { DeliveryDeps } from '../deps.ts';
import { serversWithOpenWork } from '../sweep.ts';

const SERVERS_A_STEP = 512;

/** In steps of 512. The cost grows with the servers that have votes open for 10 minutes, not with the listeners. */
export async function* fetchingWithOpenVotes({
  listeners,
  votes,
  clock,
}: DeliveryDeps): AsyncGenerator<Listener[]> {
  const queuedBy = after(clock.now(), -FORGOTTEN_AFTER_MS);
  const serverIds = await serversWithOpenWork(votes, { queuedBy });
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    yield await listeners.find({ serverId, protocol: 'fetch' }).toArray();
  }
}

/** The listeners that have not fetched (`isForgotten`) while votes have been open for as long. */
export async function neglectedListeners(deps: DeliveryDeps): Promise<Listener[]> {
  const now = deps.clock.now();
  const found: Listener[] = [];
  for await (const some of fetchingWithOpenVotes(deps)) {
    found.push(...some.filter((listener) => isForgotten(listener, now)));
  }
  return found;
}
