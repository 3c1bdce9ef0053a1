import { after, SECOND } from '../platform/clock.ts';
import type { Vote } from '../votes/vote.ts';

/** A vote is fresh for this long after it was cast. */
const FRESH_FOR_MS = 5 * SECOND;

/** Backlogs are throttled for this long after a fresh vote was claimed. */
const THROTTLED_FOR_MS = 5 * SECOND;

/** The rate of all backlogs of a worker together then, in votes a second, and the most that one claim takes. */
const VOTES_A_SECOND = 200;
const LARGEST_THROTTLED_CLAIM = 16;

/**
 * Limits how fast a worker drains backlogs while it forwards fresh votes. A backlog drains as fast as MongoDB writes its
 * journal; each vote that is cast meanwhile, and each answer of the API, would wait behind that
 * (docs/adr/0050-delivery-queues.md has the figures).
 */
export class BacklogThrottle {
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;

  /** Takes note of votes that this worker forwards at `now`: fresh are those that were cast within 5 seconds. */
  note(votes: Pick<Vote, 'votedAt'>[], now: Date): void {
    const since = after(now, -FRESH_FOR_MS);
    if (votes.some(({ votedAt }) => votedAt > since)) this.#freshAt = performance.now();
  }

  get #isWanted(): boolean {
    return performance.now() - this.#freshAt < THROTTLED_FOR_MS;
  }

  /** How many of `most` votes the next claim of a backlog takes. */
  limit(most: number): number {
    return this.#isWanted ? Math.min(most, LARGEST_THROTTLED_CLAIM) : most;
  }

  /**
   * Reserves `votes` of the rate.
   *
   * @returns 0 when they may be claimed now; else in how many milliseconds to try again
   */
  take(votes: number): number {
    if (!this.#isWanted) return 0;
    const now = performance.now();
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = now + (votes / VOTES_A_SECOND) * SECOND;
    return 0;
  }
}
