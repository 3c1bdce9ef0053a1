import { AsyncLocalStorage } from 'node:async_hooks';
import { onTestFinished } from 'vitest';

type Close = () => unknown;

const kept = new AsyncLocalStorage<Close[]>();

/** Has `close` called when the test ends; what is opened inside `lasting()` ends with that instead. */
export function atTheEnd(close: Close): void {
  const closes = kept.getStore();
  if (closes) closes.push(close);
  else onTestFinished(async () => void (await close()));
}

/**
 * Opens something that the tests of a file share: nothing of it ends with a test.
 *
 * @returns what was opened, and what ends it, the newest first
 */
export async function lasting<T>(open: () => Promise<T>): Promise<{ opened: T; close(): Promise<void> }> {
  const closes: Close[] = [];
  const close = async () => {
    for (const one of closes.toReversed()) await one();
  };
  try {
    return { opened: await kept.run(closes, open), close };
  } catch (error) {
    await close();
    throw error;
  }
}
