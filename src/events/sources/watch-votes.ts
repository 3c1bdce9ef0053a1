import { serversWith } from '../../delivery/drain/lost-attempts.ts';
import { after, MINUTE } from '../../platform/clock.ts';
import type { EventsDeps } from '../deps.ts';
import { type SeenVotes, settledAt } from './counted-votes.ts';
import { lookAtServers } from './look-at-servers.ts';
import { forgetWatches } from './vote-watches.ts';
import { type WatchedServer, watchedServers } from './watched-servers.ts';

/** Servers of one query. */
const SLICE = 500;
const BY_TIME = { serverId: 1, votedAt: 1 } as const;

/** All servers are looked at, and the votes of their months are counted anew. */
const ALL_EVERY_MS = 5 * MINUTE;

/**
 * Returns the function that looks for votes which began to count since this process looked last, and stores the events
 * of votes, goals and milestones. An index says which servers have votes of these seconds, and of those before in which
 * a vote may have been inserted late: counters lose increments. A failed look is repeated by the next one.
 */
export function createVoteWatch(deps: EventsDeps) {
  const seen = new Map<string, SeenVotes>();
  /** Of the last look, without those that failed. */
  let known = new Set<string>();
  let lookedAt: Date | null = null;
  let allAt: Date | null = null;

  return async (stop: AbortSignal): Promise<{ servers: number; events: number }> => {
    const now = deps.clock.now();
    const watched = await watchedServers(deps);
    const isAll = !lookedAt || !allAt || now >= after(allAt, ALL_EVERY_MS);
    for (const [id, one] of seen) {
      if (!watched.has(id)) seen.delete(id);
      if (isAll) one.month = null;
    }
    if (isAll) await forgetWatches(deps, watched);
    const active = lookedAt && !isAll ? await withVotesSince(deps, watched, settledAt(lookedAt)) : null;
    const due = [...watched].filter(
      ([id, { isGoalDue }]) => !active || isGoalDue || active.has(id) || !known.has(id),
    );
    const { events, failed } = await lookAtServers(deps, new Map(due), { now, seen, stop });
    known = new Set([...watched.keys()].filter((id) => !failed.has(id)));
    lookedAt = now;
    if (isAll) allAt = now;
    return { servers: due.length, events };
  };
}

async function withVotesSince(
  { votes }: EventsDeps,
  watched: Map<string, WatchedServer>,
  since: Date,
): Promise<Set<string>> {
  const ids = [...watched.values()].map(({ serverId }) => serverId);
  const found = new Set<string>();
  for (let start = 0; start < ids.length; start += SLICE) {
    const some = ids.slice(start, start + SLICE);
    for (const id of await serversWith(votes, some, { votedAt: { $gte: since } }, BY_TIME)) found.add(id);
  }
  return found;
}
