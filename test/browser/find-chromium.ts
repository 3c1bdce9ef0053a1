import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** The path of the browser: `CHROMIUM`, otherwise one on PATH; null if there is none. */
export function findChromium(env: Record<string, string | undefined>): string | null {
  if (env.CHROMIUM) return env.CHROMIUM;
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) {
      const path = join(folder, name);
      if (isExecutable(path)) return path;
    }
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
