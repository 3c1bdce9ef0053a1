/** Nobody answered in time. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms / 1_000} s`);
    this.name = 'DeadlineError';
  }
}

/**
 * `work`, given up after `ms` milliseconds, at once where none are left. The work itself goes on unseen: it needs a
 * bound of its own.
 *
 * @throws {DeadlineError} when the time is over, or what `work` throws
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DeadlineError(ms)), Math.max(0, ms));
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** `ask`, whose answer is kept for `ms` milliseconds and shared by all who ask meanwhile. */
export function remembered<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let freshUntil = 0;
  return () => {
    // Not the clock of the features: a test may move that one, and this is about load, not about meaning.
    const now = performance.now();
    if (answer && now < freshUntil) return answer;
    freshUntil = now + ms;
    answer = ask();
    return answer;
  };
}
