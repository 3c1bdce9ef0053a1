import { MINUTE } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { throwUnlessTransient } from '../../platform/transient-errors.ts';
import type { Ready } from './attempt-record.ts';
import type { DrainDeps } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';
import { giveBackVotes } from './take-votes.ts';

/** How long giving back votes is retried. */
const RETRIED_FOR_MS = 30 * MINUTE;

/** Taken votes of a leased listener that will not be sent, until they are given back. */
export class VotesToGiveBack {
  readonly #deps: DrainDeps;
  readonly #leased: LeasedListener;
  readonly #votes: Ready[] = [];

  constructor(deps: DrainDeps, leased: LeasedListener) {
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
   * Gives the votes back. If this fails, they stay in the list, and the call can be repeated.
   *
   * @throws the driver's error when MongoDB fails
   */
  async giveBack(): Promise<void> {
    const givenBack = [...this.#votes];
    await giveBackVotes(
      this.#deps,
      this.#leased.now,
      givenBack.map(({ taken }) => taken),
    );
    // Votes may have been added during the write.
    this.#votes.splice(0, givenBack.length);
  }

  /**
   * `giveBack`, retried while MongoDB is unavailable, even after the leases have expired. A vote that is not given back
   * would count as sent.
   *
   * @param waitNoLonger - once aborted, there is only one more try
   * @throws the driver's error when MongoDB stays unavailable
   */
  async giveBackWithRetries(waitNoLonger: AbortSignal): Promise<void> {
    const giveUpAt = performance.now() + RETRIED_FOR_MS;
    const giveBackAgain = async (tries: number) => {
      if (tries > 0) await this.#leased.renew().catch(() => false);
      await this.giveBack();
    };
    await retry(giveBackAgain, {
      deadline: () => giveUpAt,
      signal: waitNoLonger,
      onError: (error) => {
        this.#deps.log.warn({ event: 'delivery.not_released', votes: this.size, reason: String(error) });
        throwUnlessTransient(error);
      },
    });
  }
}
