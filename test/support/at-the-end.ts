import { onTestFinished } from 'vitest';

type Close = () => unknown;

/** The close functions for resources of the whole file. */
const ofFile: Close[] = [];

/** Closes the resources that the file opened outside its tests, the newest first. `setup.ts` calls it at the end of the file. */
export async function closeAtFileEnd(): Promise<void> {
  for (const close of ofFile.splice(0).toReversed()) await close();
}

/**
 * Calls `close` at the end of the test, or, for resources opened outside a test (in `beforeAll`), at the end of the file;
 * the newest first.
 */
export function atTheEnd(close: Close): void {
  try {
    onTestFinished(async () => void (await close()));
  } catch {
    ofFile.push(close);
  }
}
