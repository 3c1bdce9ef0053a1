import { LRUCache } from 'lru-cache';
import { after, type Clock } from '../clock.ts';
import type { ProcessLimit } from './define-limit.ts';

/** Beyond it, the counts of the least recently used keys are dropped. */
const MOST_KEYS = 20_000;

export type LocalLimit = {
  /** Null when the use is allowed; otherwise when the next one is. `cost` is 1 by default. */
  (key: string, cost?: number): Date | null;
  /** Null while a use is allowed. Counts nothing. */
  usedUpUntil(key: string): Date | null;
};

/** Counted in the memory of one process, so that a use costs no write to the database. */
export function createLocalLimit(clock: Clock, { times, windowMs }: ProcessLimit): LocalLimit {
  // With `max` the library would reserve the memory of all keys at once.
  const windows = new LRUCache<string, { used: number; resetAt: Date }>({
    maxSize: MOST_KEYS,
    sizeCalculation: () => 1,
  });
  const current = (key: string, now: Date) => {
    const known = windows.get(key);
    return known && known.resetAt > now ? known : undefined;
  };
  const use = (key: string, cost = 1) => {
    const now = clock.now();
    const known = current(key, now);
    const window = known ?? { used: 0, resetAt: after(now, windowMs) };
    if (!known) windows.set(key, window);
    if (window.used + cost > times) return window.resetAt;
    window.used += cost;
    return null;
  };
  const usedUpUntil = (key: string) => {
    const window = current(key, clock.now());
    return window && window.used >= times ? window.resetAt : null;
  };
  return Object.assign(use, { usedUpUntil });
}
