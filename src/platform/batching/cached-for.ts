/**
 * Returns a function that calls `load`, caches the answer for `ms` milliseconds and shares it between all callers. A
 * failed answer is cached too.
 */
export function cachedFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let freshUntil = 0;
  return () => {
    // The age is measured with `performance.now()` and not with `Clock`: the cache only reduces load, so it must not
    // depend on the time that tests set.
    const now = performance.now();
    if (answer && now < freshUntil) return answer;
    freshUntil = now + ms;
    answer = load();
    return answer;
  };
}
