/** Returns a function that calls `load` and shares its answer, even a failed one, for `ms` milliseconds. */
export function cachedFor<T>(ms: number, load: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let freshUntil = 0;
  return () => {
    // Not measured with `Clock`: the cache only reduces load, so it must not depend on the time that tests set.
    const now = performance.now();
    if (answer && now < freshUntil) return answer;
    freshUntil = now + ms;
    answer = load();
    return answer;
  };
}
