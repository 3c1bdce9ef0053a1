import { LRUCache } from 'lru-cache';

/**
 * Answers that may be a little old: each is kept for some milliseconds, counted from the moment before it was asked
 * for. What is not there (`null`) is not kept, nor is an answer asked for before something was forgotten: it may be
 * older than what was changed.
 */
export class TtlCache<Answer extends object> {
  readonly #answers: LRUCache<string, Answer>;
  #forgotten = 0;

  /** @param options - `most` answers are kept, each for `ms` milliseconds */
  constructor({ most, ms }: { most: number; ms: number }) {
    this.#answers = new LRUCache({ max: most, ttl: ms });
  }

  /** The answer kept under `key`, at once. */
  peek(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  /** The answer kept under `key`, or what `ask` says. */
  async read(key: string, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const kept = this.peek(key);
    if (kept) return kept;
    const start = performance.now();
    const before = this.#forgotten;
    const answer = await ask();
    if (answer && before === this.#forgotten) this.#answers.set(key, answer, { start });
    return answer;
  }

  /** Forgets the answers of which `changed` says so. To be called when the change is made. */
  forget(changed: (answer: Answer) => boolean): void {
    this.#forgotten += 1;
    for (const [key, answer] of this.#answers.entries()) if (changed(answer)) this.#answers.delete(key);
  }
}
