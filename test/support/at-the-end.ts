import { onTestFinished } from 'vitest';

type Close = () => unknown;

/** What closes that which the file opened as a whole, and none of its tests alone. */
const ofFile: Close[] = [];

/** Closes what the file opened outside its tests, the newest first. `setup.ts` has it called when the file ends. */
export async function closeAtFileEnd(): Promise<void> {
  for (const close of ofFile.splice(0).toReversed()) await close();
}

/**
 * Has `close` called when the test ends, or, for what is opened outside a test (in `beforeAll`), when the file ends;
 * the newest first.
 */
export function atTheEnd(close: Close): void {
  try {
    onTestFinished(async () => void (await close()));
  } catch {
    ofFile.push(close);
  }
}
