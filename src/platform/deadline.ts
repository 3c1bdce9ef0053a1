import { AppError } from './app-error.ts';
/** There was no answer before the deadline. */
export class DeadlineError extends AppError {
  constructor(ms: number) {
    super(`no answer within ${ms / 1_000} s`);
  }
}

/**
 * Waits for `work` at most `ms` milliseconds. The work itself is not cancelled, so it needs its own limit.
 *
 * @throws {DeadlineError} when the time is over, or the error of `work`
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
