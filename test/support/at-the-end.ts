import { onTestFinished } from 'vitest';

type Close = () => unknown;

/** The close functions of resources that the whole file uses. */
const ofFile: Close[] = [];

/**
 * Closes the resources that the file opened outside its tests, the newest first. `setup.ts` calls it when the file
 * ends.
 */
export async function closeAtFileEnd(): Promise<void> {
  for (const close of ofFile.splice(0).toReversed()) await close();
}

/**
 * Registers `close` to be called when the test ends. If it is called outside a test (in `beforeAll`), `close` is called
 * when the file ends. The newest resources are closed first.
 */
export function atTheEnd(close: Close): void {
  try {
    onTestFinished(async () => void (await close()));
  } catch {
    ofFile.push(close);
  }
}
