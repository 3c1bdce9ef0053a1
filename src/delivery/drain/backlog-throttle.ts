import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';

const FRESH_FOR_MS = 5 * SECOND;

export function isFreshVote({ votedAt }: Pick<Vote, 'votedAt'>, now: Date): boolean {
  return votedAt > after(now, -FRESH_FOR_MS);
}

/** Backlogs are slowed for so long after a worker took a fresh vote. */
const THROTTLED_FOR_MS = 5 * SECOND;
/** When throttling begins, for all backlogs of a worker together. */
const VOTES_A_SECOND = 200;
const LARGEST_THROTTLED_TAKE = 16;
/** The rate doubles each time after throttling for this long. */
const DOUBLES_AFTER_MS = MINUTE;
/** Without throttling for this long, the next begins at `VOTES_A_SECOND`. */
const RESETS_AFTER_MS = 10 * SECOND;

/** If `waitMs` is not 0, no votes may be taken for so long. */
type Grant = {
  votes: number;
  waitMs: number;
  /** The next possible grant, on `performance.now()`; null if no time is reserved. */
  chargedUntil: number | null;
};

/**
 * Without a limit, a backlog drains as fast as MongoDB writes its journal, which delays every new vote and every API
 * response. The limit doubles each minute: a worker whose backlogs grow faster than it would never finish them
 * (docs/adr/0050-delivery-queues.md).
 */
export class BacklogThrottle {
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;
  #throttledSince = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  /** This worker forwards these votes. */
  note(votes: Pick<Vote, 'votedAt'>[], now: Date): void {
    if (votes.some((vote) => isFreshVote(vote, now))) this.#freshAt = performance.now();
  }

  /** At most `most`; reserves the time that they take at the current rate. */
  take(most: number): Grant {
    const now = performance.now();
    if (now - this.#freshAt >= THROTTLED_FOR_MS) return { votes: most, waitMs: 0, chargedUntil: null };
    if (now - this.#throttledAt > RESETS_AFTER_MS) this.#throttledSince = now;
    this.#throttledAt = now;
    if (now < this.#nextAt) return { votes: 0, waitMs: this.#nextAt - now, chargedUntil: null };
    const votes = Math.min(most, LARGEST_THROTTLED_TAKE);
    this.#nextAt = now + this.#durationOf(votes);
    return { votes, waitMs: 0, chargedUntil: this.#nextAt };
  }

  /** Unless another backlog has reserved votes since. */
  giveBack({ votes, chargedUntil }: Grant, taken: number): void {
    if (chargedUntil === this.#nextAt) this.#nextAt -= this.#durationOf(votes - taken);
  }

  #durationOf(votes: number): number {
    const doublings = Math.floor((this.#throttledAt - this.#throttledSince) / DOUBLES_AFTER_MS);
    return ((votes / VOTES_A_SECOND) * SECOND) / 2 ** doublings;
  }
}
