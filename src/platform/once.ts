/**
 * Returns a function that calls `load` once and shares its answer between all callers. If `load` fails, the next call
 * tries again.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= load().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
