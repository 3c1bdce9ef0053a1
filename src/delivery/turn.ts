import PQueue from 'p-queue';
import { SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import type { Listener } from './listener.ts';

/** The turn of listeners that fail. */
export const FAILING_TURN = 2;

/**
 * Whose votes go first when many listeners wait for a worker, as a job's priority (0 first): those that took votes
 * and have not failed since, then those of which nothing is known yet, then those that fail. So listeners that
 * never answer, of which each costs a worker's place some seconds, stand in nobody's way but each other's.
 */
export function turnOf({ breaker, lastDeliveredAt }: Pick<Listener, 'breaker' | 'lastDeliveredAt'>): number {
  if (breaker.failures > 0) return FAILING_TURN;
  return lastDeliveredAt ? 0 : 1;
}

/** What `turnOf` reads. */
export const TURN_FIELDS = { 'breaker.failures': 1, lastDeliveredAt: 1 } as const;

/** One that is put off comes back after this long at the soonest, and at the latest. */
const SOONEST_MS = SECOND / 5;
const LATEST_MS = 60 * SECOND;

/** How long a place is taken to be held until that is known, and how much the newest time counts against that. */
const HELD_AT_FIRST_MS = SECOND;
const NEWEST = 0.1;

/**
 * This part of the places, at least one where there are two, is not for listeners that fail: where those are so many
 * that their tests alone would hold every place, the first vote of a new listener would wait for a gap among them.
 */
const KEPT_FOR_UNKNOWN = 0.25;

/**
 * So many listeners that are not known to answer work on MongoDB at once in a worker; and so many while one that
 * answers is served, and for a while after. Hundreds of them may fall due together, and each step of that one's
 * next vote, from the request that casts it on, would wait behind the work of all of them.
 */
const ASIDE_AT_ONCE = 8;
const ASIDE_MEANWHILE = 1;
const MEANWHILE_MS = SECOND;

/** Such work that lasts longer, on a connection that was lost, holds up no other. */
const HANGS_AFTER_MS = 3 * SECOND;

/**
 * A worker's places for listeners that are not known to answer (`turnOf` above 0). Who finds none is told when to
 * come back, one after the other as places should become free: thousands that come back together would keep a
 * worker busy with turning them away.
 */
export class UnprovenPlaces {
  readonly #most: number;
  readonly #mostFailing: number;
  #taken = 0;
  #heldMs = HELD_AT_FIRST_MS;
  #nextFree = 0;
  readonly #aside = new PQueue({ concurrency: ASIDE_AT_ONCE });
  #served = 0;
  #sinceServed: NodeJS.Timeout | undefined;

  constructor(most: number) {
    this.#most = most;
    this.#mostFailing = Math.max(1, most - Math.ceil(most * KEPT_FOR_UNKNOWN));
  }

  /** Takes a place if one is free. The last of several are kept for listeners of which nothing is known. */
  take(turn: number): boolean {
    if (this.#taken >= (turn === FAILING_TURN ? this.#mostFailing : this.#most)) return false;
    this.#taken += 1;
    return true;
  }

  /** Gives a place back that was held for `heldMs` milliseconds. */
  free(heldMs: number): void {
    this.#taken -= 1;
    this.#heldMs += (heldMs - this.#heldMs) * NEWEST;
  }

  /**
   * Does work of a listener that is not known to answer, few at once. Those that have begun go first: who held a
   * place for long would have the others come in vain. Such work must not wait for other such work.
   *
   * @param turn - of one that begins
   */
  async aside<T>(work: () => Promise<T>, turn?: number): Promise<T> {
    const begin = async () => {
      const working = work();
      await within(HANGS_AFTER_MS, working).catch(() => undefined);
      return { working };
    };
    const { working } = await this.#aside.add(begin, { priority: turn === undefined ? 1 : -turn });
    return working;
  }

  /** Has such work make way while a listener that answers is served: until what this returns is called. */
  makeWay(): () => void {
    this.#served += 1;
    clearTimeout(this.#sinceServed);
    this.#aside.concurrency = ASIDE_MEANWHILE;
    return () => {
      this.#served -= 1;
      if (this.#served > 0) return;
      const full = () => {
        this.#aside.concurrency = ASIDE_AT_ONCE;
      };
      this.#sinceServed = setTimeout(full, MEANWHILE_MS).unref();
    };
  }

  /** How long from now one that found no place should stay away, in milliseconds. */
  stayAwayMs(now: number): number {
    this.#nextFree = Math.max(now + SOONEST_MS, this.#nextFree + this.#heldMs / this.#most);
    // The latest ones share their moment; by then most of the others are known to be unreachable, or to answer.
    this.#nextFree = Math.min(this.#nextFree, now + LATEST_MS);
    return this.#nextFree - now;
  }
}
