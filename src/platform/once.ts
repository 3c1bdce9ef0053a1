/** Wraps `load`: it is called once, and all calls share its answer. After a failure the next call tries again. */
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
