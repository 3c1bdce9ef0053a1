import { LRUCache } from 'lru-cache';
import type { Collection, ObjectId } from 'mongodb';
import { type Clock, MINUTE } from '../../platform/clock.ts';
import { type Allowance, type RateLimit, useAllowances } from '../../platform/limits/rate-limit.ts';

/** How many takes are allowed over all processes: of a server, and of all servers of an account. */
const ALLOWANCES = {
  server: { times: 600, windowMs: MINUTE },
  account: { times: 3_000, windowMs: MINUTE },
} as const satisfies Record<string, Allowance>;

/** A limit as it is after a take was counted. */
export type TakeLimit = Allowance & {
  name: keyof typeof ALLOWANCES;
  left: number;
  resetAt: Date;
  /** Whether the take is refused. */
  isUsedUp: boolean;
};

const MOST_REMEMBERED = 20_000;

/** Counts takes. While a limit is used up, this process refuses further takes without asking MongoDB. */
export class TakeLimits {
  readonly #deps: { rateLimits: Collection<RateLimit>; clock: Clock };
  readonly #usedUp = new LRUCache<string, TakeLimit>({ maxSize: MOST_REMEMBERED, sizeCalculation: () => 1 });

  constructor(deps: { rateLimits: Collection<RateLimit>; clock: Clock }) {
    this.#deps = deps;
  }

  /** @returns the limits that apply to the take; only those that are used up if it is refused without being counted */
  async count(serverId: ObjectId, ownerId: ObjectId | null): Promise<TakeLimit[]> {
    const keys = [['server', serverId] as const, ...(ownerId ? [['account', ownerId] as const] : [])];
    const named = keys.map(([name, id]) => ({ name, key: `takes:${name}:${id.toHexString()}` }));
    const now = this.#deps.clock.now();
    const known = named.flatMap(({ key }) => this.#usedUp.get(key) ?? []);
    const usedUp = known.filter(({ resetAt }) => resetAt > now);
    if (usedUp.length > 0) return usedUp;
    return Promise.all(named.map(({ name, key }) => this.#use(name, key)));
  }

  async #use(name: TakeLimit['name'], key: string): Promise<TakeLimit> {
    const allowance = ALLOWANCES[name];
    const { taken, left, resetAt } = await useAllowances(this.#deps, key, allowance, 1);
    const limit = { name, ...allowance, left, resetAt, isUsedUp: taken === 0 };
    if (limit.isUsedUp) this.#usedUp.set(key, limit);
    return limit;
  }
}
