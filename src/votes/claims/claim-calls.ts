import { LRUCache } from 'lru-cache';
import type { ObjectId } from 'mongodb';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';

/**
 * What one claim key may cost a process in a minute. A check or a claim costs 1: a busy plugin that checks 500 players
 * every ten seconds uses 3,000.
 */
const A_MINUTE = 3_000;

/** What a list of votes or voters costs: it reads up to 500 votes. */
export const LIST_COST = 25;

/** Keys that are counted at once; with more, the ones that were quiet for longest begin anew. */
const MOST_KEYS = 20_000;

/**
 * Counts the calls of one claim key.
 *
 * @param cost - 1, or `LIST_COST`
 * @returns null when the call is allowed; else when the next one is
 */
export type ClaimCalls = (key: { _id: ObjectId }, cost?: number) => Date | null;

/**
 * The limit for calls with a claim key, which plugins send in addresses and proxies log. It is counted in the memory of
 * one process: it protects this process, and a refused call must not cost a write.
 */
export function createClaimCalls(clock: Clock): ClaimCalls {
  const windows = new LRUCache<string, { used: number; resetAt: Date }>({ max: MOST_KEYS });
  return ({ _id }, cost = 1) => {
    const now = clock.now();
    const key = _id.toHexString();
    const known = windows.get(key);
    const window = known && known.resetAt > now ? known : { used: 0, resetAt: after(now, MINUTE) };
    if (window !== known) windows.set(key, window);
    if (window.used + cost > A_MINUTE) return window.resetAt;
    window.used += cost;
    return null;
  };
}
