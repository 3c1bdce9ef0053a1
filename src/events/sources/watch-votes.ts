import { after, MINUTE } from '../../platform/clock.ts';
import type { EventsDeps } from '../deps.ts';
import type { VoteMemory } from './counted-votes.ts';
import { type LastLook, lookAtServers } from './look-at-servers.ts';
import { forgetWatches } from './vote-watches.ts';
import { watchedServers } from './watched-servers.ts';

/** So often, what a process remembers is counted anew, and milestones without new votes too. */
const ALL_EVERY_MS = 5 * MINUTE;

/**
 * Returns the function that looks for votes which began to count since this process looked last, and stores the events
 * of votes, goals and milestones. It reads the votes of these seconds by an index, and those before in which a vote may
 * have been inserted late; counters lose increments. A failed look is repeated by the next one.
 */
export function createVoteWatch(deps: EventsDeps) {
  const memory: VoteMemory = new Map();
  let last: LastLook | null = null;
  let allAt: Date | null = null;

  return async (stop: AbortSignal): Promise<{ servers: number; events: number }> => {
    const now = deps.clock.now();
    const servers = await watchedServers(deps);
    const isAll = !allAt || now >= after(allAt, ALL_EVERY_MS);
    // Another process may have looked meanwhile, and many votes may wait: each server continues where it was left.
    if (last && last.at < after(now, -ALL_EVERY_MS)) last = null;
    for (const [id, seen] of memory) {
      if (!servers.has(id)) memory.delete(id);
      if (isAll) seen.month = null;
    }
    if (isAll) await forgetWatches(deps, servers);
    const look = lookAtServers(deps, servers, { now, memory, stop, last, isAll });
    const { events, failed } = await look.catch((error: unknown) => {
      // Votes that it has seen may not be counted for goals yet.
      memory.clear();
      throw error;
    });
    last = { at: now, failed, known: new Set([...servers.keys()].filter((id) => !failed.has(id))) };
    if (isAll) allAt = now;
    return { servers: servers.size, events };
  };
}
