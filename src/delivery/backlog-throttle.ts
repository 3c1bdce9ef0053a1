import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../clock.ts';

/** So long after a fresh vote the backlogs of a worker are throttled. */
const FRESH_FOR_MS = 5 * SECOND;

/** The rate of all backlogs of a worker together then, in votes a second, and the most that one claim takes. */
const VOTES_A_SECOND = 200;
const LARGEST_CLAIM = 16;

/**
 * Limits how fast a worker drains backlogs while it forwards fresh votes. A backlog drains as fast as MongoDB writes its
 * journal; each vote that is cast meanwhile, and each answer of the API, would wait behind that
 * (docs/adr/0050-delivery-queues.md has the figures).
 */
export class BacklogThrottle {
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;

  /** This worker forwards a fresh vote. */
  noteFresh(): void {
    this.#freshAt = performance.now();
  }

  get #isWanted(): boolean {
    return performance.now() - this.#freshAt < FRESH_FOR_MS;
  }

  /** How many of `most` votes the next claim of a backlog takes. */
  limit(most: number): number {
    return this.#isWanted ? Math.min(most, LARGEST_CLAIM) : most;
  }

  /** Waits until `votes` more may be claimed. */
  async wait(votes: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWanted) return;
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + (votes / VOTES_A_SECOND) * SECOND;
    if (at > now) await pause(at - now, undefined, { signal }).catch(() => undefined);
  }
}
