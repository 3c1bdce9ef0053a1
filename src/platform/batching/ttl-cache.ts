import { LRUCache } from 'lru-cache';

/**
 * A cache for answers that may be slightly old. The TTL begins when the load begins. `null` is not cached. If `forget`
 * is called during a load, the loaded answer is not cached either, because it may be older than the change.
 */
export class TtlCache<Answer extends object> {
  readonly #answers: LRUCache<string, Answer>;
  #forgotten = 0;

  /** @param options - `most` is the number of answers, `ms` their TTL in milliseconds */
  constructor({ most, ms }: { most: number; ms: number }) {
    // With `max` instead of `maxSize`, the library would reserve the memory of all answers at once.
    this.#answers = new LRUCache({ maxSize: most, sizeCalculation: () => 1, ttl: ms });
  }

  peek(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  /** The cached answer of `key`, or the answer of `load`. */
  async read(key: string, load: () => Promise<Answer | null>): Promise<Answer | null> {
    const cached = this.peek(key);
    if (cached) return cached;
    const start = performance.now();
    const before = this.#forgotten;
    const answer = await load();
    if (answer && before === this.#forgotten) this.#answers.set(key, answer, { start });
    return answer;
  }

  /** Removes the answers for which `changed` returns true. Must be called when the data behind them is changed. */
  forget(changed: (answer: Answer) => boolean): void {
    this.#forgotten += 1;
    for (const [key, answer] of this.#answers.entries()) if (changed(answer)) this.#answers.delete(key);
  }
}
