import { LRUCache } from 'lru-cache';
import { after, type Clock } from '../clock.ts';
import type { Allowance } from './rate-limit.ts';

/** How many keys are counted at once. Beyond it, the counts of the least recently used keys are dropped. */
const MOST_KEYS = 20_000;

/**
 * Counts a use of `key`.
 *
 * @param cost - 1 by default
 * @returns null when the use is allowed; otherwise when the next use is allowed
 */
export type LocalLimit = (key: string, cost?: number) => Date | null;

/** A limit that is counted in the memory of one process, so that a use costs no write to the database. */
export function createLocalLimit(clock: Clock, { times, windowMs }: Allowance): LocalLimit {
  // With `max` the library would reserve the memory of all keys at once.
  const windows = new LRUCache<string, { used: number; resetAt: Date }>({
    maxSize: MOST_KEYS,
    sizeCalculation: () => 1,
  });
  return (key, cost = 1) => {
    const now = clock.now();
    const known = windows.get(key);
    const window = known && known.resetAt > now ? known : { used: 0, resetAt: after(now, windowMs) };
    if (window !== known) windows.set(key, window);
    if (window.used + cost > times) return window.resetAt;
    window.used += cost;
    return null;
  };
}
