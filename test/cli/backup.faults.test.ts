import { expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../backup/new-folder.ts';
import { databaseOf } from '../database/earlier-release.ts';
import { environment } from './environment.ts';
import { openCli, tallyport } from './tallyport.ts';

test('a database of 0.1.0 is backed up as it is, and restored as one of this version, also without its SECRET_KEY', async () => {
  const { deps } = await databaseOf('0.1.0');
  const env = environment({ MONGODB_URI: deps.config.MONGODB_URI });
  const folder = await newFolder();
  expect(await tallyport(['backup', folder], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await deps.mongo.db.listCollections({ name: 'migrations' }).toArray()).toEqual([]);

  const other = await openCli({ SECRET_KEY: 'another-key-for-tests-0123456789-abcdef' });
  onTestFinished(() => other.close());
  const restored = await other.run('restore --without-secret-key', folder);
  expect(restored.stdout).toMatch(/^Migrations of this version: 0001-complete-servers, /m);
  expect(restored.stdout).toContain('second factors cannot be read');
  expect(await other.deps.servers.countDocuments()).toBe(await deps.servers.countDocuments());
});
