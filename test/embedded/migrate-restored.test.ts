import { expect, test, vi } from 'vitest';
import { migrateWhenRestored } from '../../src/all-in-one/migrate-restored.ts';
import { setRestore } from '../backup/restoring.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testPlatform } from '../support/test-platform.ts';

test('npm start waits until a restore has ended, and says so once', async () => {
  const platform = await testPlatform();
  await setRestore(platform, {});
  const said: string[] = [];
  const migrating = migrateWhenRestored(platform.config, (line) => said.push(line));
  await vi.waitFor(() => expect(said).toHaveLength(1), EVENTUALLY);
  await setRestore(platform, { finishedAt: new Date() });
  expect(await migrating).toEqual({ made: [], ran: [] });
  expect(said).toEqual([
    expect.stringMatching(
      /^A restore into «test_\w+» has not ended: wait for it, run `tallyport restore` with the same backup again, or use another database\. Tallyport starts when it has ended\.$/,
    ),
  ]);
});
