import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import type { Vote } from '../../votes/vote.ts';

const FRESH_FOR_MS = 5 * SECOND;

/** Whether a vote was cast less than five seconds before `now`. */
export function isFreshVote({ votedAt }: Pick<Vote, 'votedAt'>, now: Date): boolean {
  return votedAt > after(now, -FRESH_FOR_MS);
}

/** After a worker took a fresh vote, its backlogs are throttled for this long. */
const THROTTLED_FOR_MS = 5 * SECOND;
/** The rate at which throttling begins, for all backlogs of a worker together. */
const VOTES_A_SECOND = 200;
const LARGEST_THROTTLED_TAKE = 16;
/** The rate doubles each time that backlogs have been throttled for this long. */
const DOUBLES_AFTER_MS = MINUTE;
/** If no backlog was throttled for this long, the next throttling begins at `VOTES_A_SECOND` again. */
const RESETS_AFTER_MS = 10 * SECOND;

/** How many votes may be taken now. If `waitMs` is not 0, none may be taken for that many milliseconds. */
type Grant = {
  votes: number;
  waitMs: number;
  /** The time on `performance.now()` of the next possible grant; null if this grant reserves no time. */
  chargedUntil: number | null;
};

/**
 * Limits how fast a worker drains backlogs while it also forwards fresh votes. Without a limit, a backlog drains as
 * fast as MongoDB writes its journal, which delays every new vote and every API response. The limit doubles each
 * minute: otherwise a worker whose backlogs grow faster than the limit would never finish them
 * (docs/adr/0050-delivery-queues.md).
 */
export class BacklogThrottle {
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextAt = 0;
  #throttledSince = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  /** Records that this worker forwards these votes at `now`. Votes cast within the last 5 seconds are fresh. */
  note(votes: Pick<Vote, 'votedAt'>[], now: Date): void {
    if (votes.some((vote) => isFreshVote(vote, now))) this.#freshAt = performance.now();
  }

  /** Grants the next votes of a backlog, at most `most`, and reserves the time that they take at the current rate. */
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

  /** Gives the unused part of a grant back, unless another backlog has reserved votes since. */
  giveBack({ votes, chargedUntil }: Grant, taken: number): void {
    if (chargedUntil === this.#nextAt) this.#nextAt -= this.#durationOf(votes - taken);
  }

  /** The time in milliseconds that this many votes take at the current rate of all backlogs together. */
  #durationOf(votes: number): number {
    const doublings = Math.floor((this.#throttledAt - this.#throttledSince) / DOUBLES_AFTER_MS);
    return ((votes / VOTES_A_SECOND) * SECOND) / 2 ** doublings;
  }
}
