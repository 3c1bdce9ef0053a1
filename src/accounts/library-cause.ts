import { AsyncLocalStorage } from 'node:async_hooks';

const causes = new AsyncLocalStorage<{ cause?: Error }>();

/** Stores an error that Better Auth logs and does not throw, for the call below that caused it. */
export function noteCause(details: readonly unknown[]): void {
  const call = causes.getStore();
  const cause = details.find((detail) => detail instanceof Error);
  if (call && cause) call.cause = cause;
}

/** Throws the error that Better Auth logged, if any, because the error that it throws does not name the cause. */
export async function withCause<T>(work: () => Promise<T>): Promise<T> {
  const call: { cause?: Error } = {};
  try {
    return await causes.run(call, work);
  } catch (error) {
    throw call.cause ?? error;
  }
}

/** Returns the result, and the last error that Better Auth only logged. */
export async function withLoggedError<T>(work: () => Promise<T>) {
  const call: { cause?: Error } = {};
  const result = await causes.run(call, work);
  return { result, cause: call.cause };
}
