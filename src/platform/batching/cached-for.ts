/**
 * Returns a function that calls `load`, caches the answer for `ms` milliseconds and shares it between all callers. A
 * failed answer is cached too.
 */
export function cachedFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let freshUntil = 0;
  return () => {
    // Measured with `performance.now()`, not with the `Clock` of the features: the cache only reduces load, and tests
    // set that clock.
    const now = performance.now();
    if (answer && now < freshUntil) return answer;
    freshUntil = now + ms;
    answer = load();
    return answer;
  };
}
