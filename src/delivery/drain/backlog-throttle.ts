import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';

/** A vote is fresh for this long after it was cast. */
const FRESH_FOR_MS = 5 * SECOND;

/** Backlogs are throttled for this long after a fresh vote was taken. */
const THROTTLED_FOR_MS = 5 * SECOND;

/** The first rate for all backlogs of a worker together, in votes per second, and the most that are taken at once. */
const VOTES_A_SECOND = 200;
const LARGEST_THROTTLED_TAKE = 16;

/** The rate doubles each time that backlogs have been throttled for this long. */
const DOUBLES_AFTER_MS = MINUTE;
/** If no throttled vote was taken for this long, the next take begins at the first rate. */
const RESETS_AFTER_MS = 10 * SECOND;

/** How many votes may be taken now; none for the next `waitMs` milliseconds if that is not 0. */
type Grant = {
  votes: number;
  waitMs: number;
  /** The rate is used up until then, on `performance.now()`; null: it is not charged. */
  chargedUntil: number | null;
};

/**
 * Limits how fast a worker drains backlogs while it forwards fresh votes. A backlog drains as fast as MongoDB writes its
 * journal; without a limit every new vote and every API response would be delayed. The limit doubles each minute:
 * otherwise a worker whose listeners get more votes than the limit would never work off what a stall left behind
 * (docs/adr/0050-delivery-queues.md has the figures).
 */
export class BacklogThrottle {
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;
  #throttledSince = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  /** Records that this worker forwards votes at `now`: those cast within the last 5 seconds are fresh. */
  note(votes: Pick<Vote, 'votedAt'>[], now: Date): void {
    const since = after(now, -FRESH_FOR_MS);
    if (votes.some(({ votedAt }) => votedAt > since)) this.#freshAt = performance.now();
  }

  get #isWanted(): boolean {
    return performance.now() - this.#freshAt < THROTTLED_FOR_MS;
  }

  /** Reserves as many of `most` votes as may be taken next from a backlog. */
  take(most: number): Grant {
    if (!this.#isWanted) return { votes: most, waitMs: 0, chargedUntil: null };
    const now = performance.now();
    if (now - this.#throttledAt > RESETS_AFTER_MS) this.#throttledSince = now;
    this.#throttledAt = now;
    if (now < this.#nextAt) return { votes: 0, waitMs: this.#nextAt - now, chargedUntil: null };
    const votes = Math.min(most, LARGEST_THROTTLED_TAKE);
    this.#nextAt = now + this.#durationOf(votes);
    return { votes, waitMs: 0, chargedUntil: this.#nextAt };
  }

  /** Returns the unclaimed part of a grant, unless another backlog waits for it already. */
  giveBack({ votes, chargedUntil }: Grant, taken: number): void {
    if (chargedUntil === this.#nextAt) this.#nextAt -= this.#durationOf(votes - taken);
  }

  /** How long this many votes take at the present rate of all backlogs together, in milliseconds. */
  #durationOf(votes: number): number {
    const doublings = Math.floor((this.#throttledAt - this.#throttledSince) / DOUBLES_AFTER_MS);
    return ((votes / VOTES_A_SECOND) * SECOND) / 2 ** doublings;
  }
}
