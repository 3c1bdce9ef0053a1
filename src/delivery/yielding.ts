import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import type { Vote } from '../votes/vote.ts';

/** A vote that is claimed so soon after it was cast is a fresh one; a line whose first has waited longer is a backlog. */
const FRESH_MS = 2 * SECOND;

/** So long after a fresh vote a worker's backlogs still make way. */
const MEANWHILE_MS = 5 * SECOND;

/** A backlog's claim takes so many votes then, and the next one begins after so many times what it took. */
const MOST_MEANWHILE = 16;
const REST = 8;
const LONGEST_REST_MS = SECOND;

/** While another claim is under way, a backlog looks again so soon. */
const LOOK_MS = 20;

/** What ends of a backlog's attempts are recorded together then: those of so long. */
const GATHERED_MS = 50;

/**
 * How a worker's backlogs make way for fresh votes. A listener that returns takes thousands of votes as fast as
 * MongoDB writes them, and while one such drain keeps its journal busy, every vote that is cast, and every answer of
 * the API, waits behind that. So while fresh votes come, backlogs rest for most of the time, all that a worker has
 * together; while none comes they drain as fast as they can.
 */
export class Yielding {
  #freshAt = Number.NEGATIVE_INFINITY;
  #claiming = false;
  #nextAt = 0;

  /** Fresh votes have come lately. */
  get isWanted(): boolean {
    return performance.now() - this.#freshAt < MEANWHILE_MS;
  }

  /** How many votes a backlog may claim together, of the `most` that it could send. */
  most(most: number): number {
    return this.isWanted ? Math.min(most, MOST_MEANWHILE) : most;
  }

  /**
   * Takes notice of what was claimed at `now`, in the order of its line.
   *
   * @returns whether that line is a backlog
   */
  note(votes: Vote[], now: Date): boolean {
    const isFresh = (at: Date) => now.getTime() - at.getTime() < FRESH_MS;
    if (votes.some(({ votedAt }) => isFresh(votedAt))) this.#freshAt = performance.now();
    const queuedAt = votes[0]?.delivery.queuedAt;
    return queuedAt ? !isFresh(queuedAt) : false;
  }

  /**
   * Takes the turn of a backlog's claim while fresh votes come; `timed` gives it back.
   *
   * @returns 0 when it is taken; else how many milliseconds from now to ask again
   */
  take(): number {
    if (this.#claiming) return LOOK_MS;
    const restMs = Math.max(0, this.#nextAt - performance.now());
    this.#claiming = restMs === 0;
    return restMs;
  }

  /** Gives the turn back when the claim has ended: the longer MongoDB needs for it, the longer it has for others. */
  async timed<T>(claim: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await claim;
    } finally {
      const now = performance.now();
      this.#claiming = false;
      this.#nextAt = now + Math.min(REST * (now - began), LONGEST_REST_MS);
    }
  }

  /** Resolves when the end of a backlog's attempt is to be recorded: with the others of the same moment. */
  async gathered(): Promise<void> {
    if (this.isWanted) await pause(GATHERED_MS - (performance.now() % GATHERED_MS));
  }
}
