import { AsyncLocalStorage } from 'node:async_hooks';

const causes = new AsyncLocalStorage<{ cause?: Error }>();

/** Stores an error that the library only logs, for the {@link withCause} or {@link findCause} call that caused it. */
export function noteCause(details: readonly unknown[]): void {
  const call = causes.getStore();
  const cause = details.find((detail) => detail instanceof Error);
  if (call && cause) call.cause = cause;
}

/**
 * Runs `work`, which calls the library.
 *
 * @throws the original error, for example of the database, when the library logged one. The library's own error does
 * not name the cause.
 */
export async function withCause<T>(work: () => Promise<T>): Promise<T> {
  const call: { cause?: Error } = {};
  try {
    return await causes.run(call, work);
  } catch (error) {
    throw call.cause ?? error;
  }
}

/** Runs `work`, which calls the library. Returns also the last error that the library logged instead of throwing it. */
export async function findCause<T>(work: () => Promise<T>): Promise<{ result: T; cause: Error | undefined }> {
  const call: { cause?: Error } = {};
  const result = await causes.run(call, work);
  return { result, cause: call.cause };
}
