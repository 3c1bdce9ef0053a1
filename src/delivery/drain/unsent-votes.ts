import { MINUTE } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { throwUnlessTransient } from '../../platform/transient-errors.ts';
import type { Ready } from './attempt-delivery.ts';
import type { DrainDeps } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';
import { giveBackVotes } from './take-votes.ts';

/** For how long votes are given back again after an error. */
const RETRIED_FOR_MS = 30 * MINUTE;

/** Taken votes of a leased listener that are not sent, until they are given back. */
export class UnsentVotes {
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
   * Gives them back. If this fails they stay in the list, and the call may be repeated.
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
    // Other votes may have been appended meanwhile.
    this.#votes.splice(0, givenBack.length);
  }

  /**
   * `giveBack`, retried while MongoDB is unavailable, also after the leases have expired: without it, the votes count as
   * sent.
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
