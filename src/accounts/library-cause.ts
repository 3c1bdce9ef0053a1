import { AsyncLocalStorage } from 'node:async_hooks';

const causes = new AsyncLocalStorage<{ cause?: Error }>();

/** Keeps an error that the library only logs, for the call that it belongs to. */
export function noteCause(details: readonly unknown[]): void {
  const call = causes.getStore();
  const cause = details.find((detail) => detail instanceof Error);
  if (call && cause) call.cause = cause;
}

/**
 * Does `work` with the library. Where that fails, the error is the one that the library met: its own says neither
 * that the database does not answer nor anything else of it.
 */
export async function withCause<T>(work: () => Promise<T>): Promise<T> {
  const call: { cause?: Error } = {};
  try {
    return await causes.run(call, work);
  } catch (error) {
    throw call.cause ?? error;
  }
}
