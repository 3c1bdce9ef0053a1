/** So many are waiting already that one more is sent away. */
class BusyError extends Error {
  readonly statusCode = 503;

  constructor() {
    super('Too many people are signing in at once. Try again in a few seconds.');
    this.name = 'BusyError';
  }
}

/**
 * Lets `atOnce` pieces of work run and `inLine` wait.
 *
 * @returns a function that runs `work` in its turn; it throws {@link BusyError} when the line is full
 */
export function createTurnstile(atOnce: number, inLine: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const line: (() => void)[] = [];

  return async (work) => {
    if (running < atOnce) running += 1;
    else if (line.length >= inLine) throw new BusyError();
    else {
      const { promise: turn, resolve } = Promise.withResolvers<void>();
      line.push(resolve);
      await turn;
    }
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so nobody can slip in between.
      const next = line.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
