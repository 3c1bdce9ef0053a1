import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import type { Vote } from '../votes/vote.ts';

/**
 * A vote that is claimed so soon after it was cast is a fresh one; a line of which such a one is not even the last
 * claimed is a backlog. More than two processes' clocks may differ.
 */
const FRESH_MS = 5 * SECOND;

/** So long after a fresh vote a worker's backlogs still make way. */
const MEANWHILE_MS = 5 * SECOND;

/** A backlog's claim takes so many votes then, and the next one begins after so many times what it took. */
const MOST_MEANWHILE = 16;
const REST = 8;
const LONGEST_REST_MS = SECOND;

/** While another claim is under way, a backlog looks again so soon; one that lasts longer holds up no other. */
const LOOK_MS = 20;
const HANGS_AFTER_MS = SECOND;

/** Ends of a backlog's attempts wait so long at most then, to be recorded together. */
const GATHERED_MS = 50;

/**
 * How a worker's backlogs make way for fresh votes. A listener that returns takes thousands of votes as fast as
 * MongoDB writes them, and while one such drain keeps its journal busy, every vote that is cast, and every answer of
 * the API, waits behind that. So while a worker sends fresh votes, backlogs that are claimed ahead rest for most of
 * the time, all that it has together; while it sends none they drain as fast as they can.
 */
export class Yielding {
  #freshAt = Number.NEGATIVE_INFINITY;
  /** A claim that has the turn is under way. */
  #claiming = false;
  /** When the turn may be taken. */
  #freeAt = 0;

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
    // Not the first: a single vote that is tried again stands before all that came since.
    const queuedAt = votes.at(-1)?.delivery.queuedAt;
    return queuedAt ? !isFresh(queuedAt) : false;
  }

  /**
   * Takes the turn of a backlog's claim, for whoever makes way (`isWanted`); `timed` gives it back.
   *
   * @returns 0 when it is taken; else how many milliseconds from now to ask again
   */
  take(): number {
    const now = performance.now();
    const waitMs = this.#freeAt - now;
    if (waitMs > 0) return this.#claiming ? Math.min(waitMs, LOOK_MS) : waitMs;
    this.#claiming = true;
    this.#freeAt = now + HANGS_AFTER_MS;
    return 0;
  }

  /** Gives the turn back when the claim has ended: the longer MongoDB needed, the longer the rest, up to a second. */
  async timed<T>(claim: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await claim;
    } finally {
      const now = performance.now();
      this.#claiming = false;
      this.#freeAt = now + Math.min(REST * (now - began), LONGEST_REST_MS);
    }
  }

  /** Resolves when the ends of a backlog's attempts are to be recorded: those of one moment together. */
  gathered(): Promise<void> {
    return pause(GATHERED_MS - (performance.now() % GATHERED_MS));
  }
}
