import { MOST_AT_ONCE } from './schedule.ts';

/** So many deliveries in a drain make a pace. Until then nobody knows that the listener is not about to hang. */
const KNOWN_AFTER = 8;

/** How much the newest delivery counts against all before it. */
const NEWEST = 0.1;

/** About as long as a claim takes. */
const AHEAD_MS = 20;

/** How fast a listener takes votes in one drain, by how long it takes for each. */
export class Pace {
  #taken = 0;
  #meanMs = 0;

  /** It acknowledged a vote `ms` milliseconds after the attempt began. */
  note(ms: number): void {
    this.#taken += 1;
    this.#meanMs += (ms - this.#meanMs) * Math.max(NEWEST, 1 / this.#taken);
  }

  /** How many votes it takes during a claim, if they are there; 0 while that is not known. */
  ahead(): number {
    if (this.#taken < KNOWN_AFTER) return 0;
    return Math.floor((MOST_AT_ONCE * AHEAD_MS) / Math.max(0.1, this.#meanMs));
  }
}
