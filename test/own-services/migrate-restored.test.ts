import { expect, test, vi } from 'vitest';
import { migrateWhenRestored } from '../../src/all-in-one/migrate-when-restored.ts';
import { setRestore } from '../backup/restoring.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';

test('npm start waits until a restore has ended, and says so once', async () => {
  const deps = await testDeps();
  await setRestore(deps, {});
  const said: string[] = [];
  const migrating = migrateWhenRestored(deps.config, (line) => said.push(line));
  await vi.waitFor(() => expect(said).toHaveLength(1), EVENTUALLY);
  await setRestore(deps, { finishedAt: new Date() });
  expect(await migrating).toEqual({ created: [], migrations: [] });
  expect(said).toEqual([
    expect.stringMatching(
      /^A restore into “test_\w+” has not ended: wait for it, run `tallyport restore` with the same backup again, or use another database\. Tallyport starts when it has ended\.$/,
    ),
  ]);
});
