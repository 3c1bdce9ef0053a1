import { attemptLeaseMs } from '../../listeners/delivery-limits.ts';
import { retry } from '../../platform/retry.ts';
import { answerStepOf } from './after-attempt.ts';
import type { Ready } from './attempt-delivery.ts';
import { releaseVotes } from './claim-votes.ts';
import type { Draining } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';

/** Claimed votes of a leased listener that are not sent, until they are released. */
export class UnsentVotes {
  readonly #deps: Draining;
  readonly #leased: LeasedListener;
  readonly #votes: Ready[] = [];

  constructor(deps: Draining, leased: LeasedListener) {
    this.#deps = deps;
    this.#leased = leased;
  }

  get size(): number {
    return this.#votes.length;
  }

  add(ready: Ready): void {
    this.#votes.push(ready);
  }

  /**
   * Releases them. When this fails they stay in the list, and the call may be repeated.
   *
   * @throws the driver's error when MongoDB fails
   */
  async release(): Promise<void> {
    const released = [...this.#votes];
    await releaseVotes(
      this.#deps,
      this.#leased.now,
      released.map(({ claimed }) => claimed),
    );
    // Other votes may have been appended meanwhile.
    this.#votes.splice(0, released.length);
  }

  /**
   * `release`, retried while MongoDB is unavailable: a vote that stays claimed until its lease expires counts as sent.
   *
   * @param waitNoLonger - once aborted, there is only one more try
   * @throws the driver's error when MongoDB stays unavailable until the leases have expired
   */
  async releaseWithRetries(waitNoLonger: AbortSignal): Promise<void> {
    const releaseAgain = async (tries: number) => {
      if (tries > 0) await this.#leased.renew().catch(() => false);
      await this.release();
    };
    await retry(releaseAgain, {
      deadline: () => this.#leasesEnd,
      signal: waitNoLonger,
      onError: (error) =>
        this.#deps.log.warn({ event: 'delivery.not_released', votes: this.size, reason: String(error) }),
    });
  }

  /** When the last lease of their attempts expires, on `performance.now()`. */
  get #leasesEnd(): number {
    const ends = this.#votes.map(
      ({ claimed, claimedAt }) => claimedAt + attemptLeaseMs(this.#deps.config, answerStepOf(claimed)),
    );
    return Math.max(...ends);
  }
}
