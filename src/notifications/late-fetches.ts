import type { Filter } from 'mongodb';
import { serversWith } from '../delivery/drain/lost-attempts.ts';
import { fetchingWithOpenVotes } from '../delivery/fetch/neglected-listeners.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { isForgotten } from '../listeners/listener-state.ts';
import { after } from '../platform/clock.ts';
import { BY_STATE, type Vote } from '../votes/vote.ts';
import type { NotificationsDeps } from './deps.ts';
import { EXPIRING_MS } from './due-notifications.ts';

const LATE_MS = DELIVERY_EXPIRES_MS - EXPIRING_MS;

/**
 * Of listeners that fetch and are not paused: votes have been open for 10 minutes and nobody has fetched meanwhile, or
 * a waiting vote was cast 48 hours ago or earlier. Costs as much as {@link fetchingWithOpenVotes}, and one seek in an
 * index for each listener that fetched in the last 10 minutes.
 */
export async function* unfetchedOrLate(deps: NotificationsDeps): AsyncGenerator<Listener> {
  const now = deps.clock.now();
  for await (const some of fetchingWithOpenVotes(deps)) {
    const active = some.filter(({ pause }) => !pause);
    const fetched = active.filter((listener) => !isForgotten(listener, now));
    const serverIds = fetched.map(({ serverId }) => serverId);
    const late =
      serverIds.length > 0 ? await serversWith(deps.votes, serverIds, lateVotes(now), BY_STATE) : new Set();
    yield* active.filter(
      (listener) => isForgotten(listener, now) || late.has(listener.serverId.toHexString()),
    );
  }
}

/** All votes that are about to expire are among them. A vote that was resent may expire later. */
export function lateVotes(now: Date): Filter<Vote> {
  return { 'delivery.state': 'waiting', votedAt: { $lte: after(now, -LATE_MS) } };
}
