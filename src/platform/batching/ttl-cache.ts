import { LRUCache } from 'lru-cache';

/** `refreshSoon` loads an answer again if at most this share of its TTL remains. */
const REMAINING_SHARE = 1 / 4;
/** Answers to refresh are collected for this long, so that their loads share database operations. */
const COLLECTED_FOR_MS = 250;

type Load<Answer> = () => Promise<Answer | null>;

/**
 * A cache for answers that may be slightly old. The TTL begins when the load begins. `null` is not cached. If `forget`
 * is called during a load, the loaded answer is not cached either, because it may be older than the change.
 */
export class TtlCache<Answer extends object> {
  readonly #answers: LRUCache<string, Answer>;
  readonly #ms: number;
  #forgotten = 0;
  readonly #toRefresh = new Map<string, Load<Answer>>();
  readonly #refreshing = new Set<string>();

  /** @param options - `most` is the number of answers, `ms` their TTL in milliseconds */
  constructor({ most, ms }: { most: number; ms: number }) {
    // With `max` instead of `maxSize`, the library would reserve the memory of all answers at once.
    // The library would keep today's object `performance`, also after a test has replaced it by a fake.
    const perf = { now: () => performance.now() };
    this.#answers = new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: ms, perf });
    this.#ms = ms;
  }

  peek(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  async read(key: string, load: Load<Answer>): Promise<Answer | null> {
    return this.peek(key) ?? this.#load(key, load);
  }

  /**
   * Loads a cached answer again before its TTL ends, so that no later call waits for that. If the answer is still young:
   * does nothing. If the load fails, the cached answer stays until its TTL ends.
   */
  refreshSoon(key: string, load: Load<Answer>): void {
    if (this.#refreshing.has(key) || this.#answers.getRemainingTTL(key) > this.#ms * REMAINING_SHARE) return;
    if (this.#toRefresh.size === 0) setTimeout(() => this.#refresh(), COLLECTED_FOR_MS).unref();
    this.#toRefresh.set(key, load);
  }

  #refresh(): void {
    const loads = [...this.#toRefresh];
    this.#toRefresh.clear();
    for (const [key, load] of loads) {
      this.#refreshing.add(key);
      void this.#load(key, load)
        .catch(() => undefined)
        .finally(() => this.#refreshing.delete(key));
    }
  }

  async #load(key: string, load: Load<Answer>): Promise<Answer | null> {
    const start = performance.now();
    const before = this.#forgotten;
    const answer = await load();
    if (!answer) this.#answers.delete(key);
    else if (before === this.#forgotten) this.#answers.set(key, answer, { start });
    return answer;
  }

  /** Must be called when the data behind the answers is changed. */
  forget(changed: (answer: Answer) => boolean): void {
    this.#forgotten += 1;
    for (const [key, answer] of this.#answers.entries()) if (changed(answer)) this.#answers.delete(key);
  }
}
