import { expect, test } from 'vitest';
import { oldFiles } from '../../tools/generate.ts';

test('generated files are what `npm run generate` writes', async () => {
  expect([...(await oldFiles()).keys()]).toEqual([]);
});
