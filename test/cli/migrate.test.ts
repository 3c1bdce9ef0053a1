import { expect, it } from 'vitest';
import { MIGRATIONS } from '../../src/database/migrations.ts';
import { databaseOf } from '../database/earlier-release.ts';
import { environment } from './environment.ts';
import { tallyport } from './tallyport.ts';

const NAMES = MIGRATIONS.map(({ name }) => name);

it('lists the migrations, runs the pending ones in their order, and then has nothing to do', async () => {
  const { deps } = await databaseOf('0.1.0');
  const env = environment({ MONGODB_URI: deps.config.MONGODB_URI });
  const run = (...more: string[]) => tallyport(['migrate', ...more], { env });

  const { stdout } = await run('--list');
  for (const name of NAMES) expect(stdout).toMatch(new RegExp(`^${name} +pending`, 'm'));
  const before = JSON.parse((await run('--list', '--json')).stdout);
  expect(before).toMatchObject(NAMES.map((name) => ({ name, applied_at: null })));
  expect(await deps.mongo.db.listCollections({ name: 'migrations' }).toArray()).toEqual([]);

  const migrated = await run('--json');
  expect(migrated).toMatchObject({ code: 0, json: { ran: NAMES } });
  expect(migrated.json.made).toContain('votes.sent_not_confirmed');
  expect(await run()).toMatchObject({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });

  expect((await run('--list')).stdout).toMatch(/^0001-complete-servers +20.+Z \(/m);
  const after = JSON.parse((await run('--list', '--json')).stdout);
  expect(after[0]).toEqual({
    name: NAMES[0],
    applied_at: expect.stringMatching(/^20.+Z$/),
    repeats: false,
  });

  await deps.migrations.deleteOne({ _id: NAMES[0] ?? '' });
  expect((await run()).stdout).toBe(`Ran:\n  ${NAMES[0]}\n`);
});
