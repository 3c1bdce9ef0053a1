import { LRUCache } from 'lru-cache';
import type { Collection, ObjectId } from 'mongodb';
import { type Clock, MINUTE } from '../../platform/clock.ts';
import { defineLimit, type Limit, limitFor } from '../../platform/limits/define-limit.ts';
import { type RateLimit, useAllowances } from '../../platform/limits/rate-limit.ts';

const TAKES = { what: 'Takes of votes', windowMs: MINUTE, beyond: '429 `too-many-requests`' } as const;
export const TAKE_LIMITS = {
  server: defineLimit({ ...TAKES, key: 'takes:server', of: 'server', times: 600 }),
  account: defineLimit({ ...TAKES, key: 'takes:account', of: 'account, for all its servers', times: 3_000 }),
};

export type TakeLimit = {
  name: keyof typeof TAKE_LIMITS;
  times: number;
  windowMs: number;
  left: number;
  resetAt: Date;
  isUsedUp: boolean;
};

const MOST_REMEMBERED = 20_000;

/** While a limit is used up, this process refuses further takes without asking MongoDB. */
export class TakeLimits {
  readonly #deps: { rateLimits: Collection<RateLimit>; clock: Clock };
  readonly #usedUp = new LRUCache<string, TakeLimit>({ maxSize: MOST_REMEMBERED, sizeCalculation: () => 1 });

  constructor(deps: { rateLimits: Collection<RateLimit>; clock: Clock }) {
    this.#deps = deps;
  }

  /** Only the limits that are used up if the take is refused without being counted. */
  async count(serverId: ObjectId, ownerId: ObjectId | null): Promise<TakeLimit[]> {
    const keys = [['server', serverId] as const, ...(ownerId ? [['account', ownerId] as const] : [])];
    const named = keys.map(([name, id]) => ({ name, limit: limitFor(TAKE_LIMITS[name], id) }));
    const now = this.#deps.clock.now();
    const known = named.flatMap(({ limit }) => this.#usedUp.get(limit.key) ?? []);
    const usedUp = known.filter(({ resetAt }) => resetAt > now);
    if (usedUp.length > 0) return usedUp;
    return Promise.all(named.map(({ name, limit }) => this.#use(name, limit)));
  }

  async #use(name: TakeLimit['name'], limit: Limit): Promise<TakeLimit> {
    const { key, times, windowMs } = limit;
    const { taken, left, resetAt } = await useAllowances(this.#deps, limit, 1);
    const counted = { name, times, windowMs, left, resetAt, isUsedUp: taken === 0 };
    if (counted.isUsedUp) this.#usedUp.set(key, counted);
    return counted;
  }
}
