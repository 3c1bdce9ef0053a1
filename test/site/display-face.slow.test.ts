import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { displayFace } from '../../tools/look.ts';

test.each([
  ['latin', 'bricolage-grotesque.woff2'],
  ['latin-ext', 'bricolage-grotesque-ext.woff2'],
] as const)('the part %s of the display face is that of the package, and smaller than 40 KB', async (part, file) => {
  const face = readFileSync(new URL(`../../src/site/look/${file}`, import.meta.url));
  expect(face.length).toBeLessThan(40 * 1_024);
  expect((await displayFace(part)).equals(face)).toBe(true);
});
