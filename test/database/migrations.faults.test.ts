import { readdir } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SCHEMAS } from '../../src/database/collections.ts';
import { missingUniqueIndexes } from '../../src/database/indexes.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { listMigrations, MIGRATIONS, type Migration } from '../../src/database/migrations.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { unmigratedNames } from '../support/databases.ts';
import { testDeps } from '../support/test-deps.ts';
import { databaseOf, documentsOf } from './earlier-release.ts';

const NAMES = MIGRATIONS.map(({ name }) => name);

const pendingOf = async ({ mongo }: AppDeps, migrations = MIGRATIONS) =>
  (await listMigrations(mongo, migrations)).filter(({ appliedAt }) => !appliedAt).map(({ name }) => name);

/** The migrations, of which one throws. */
function failingAt(place: number): Migration[] {
  const up = () => Promise.reject(new Error('the process was killed'));
  return MIGRATIONS.map((migration, at) => (at === place ? { ...migration, up } : migration));
}

/** What the migrations since 0.1.0 must have done. */
async function expectComplete({ mongo, credentials, servers, reviewLists }: AppDeps) {
  const { db } = mongo;
  for (const schema of SCHEMAS) {
    const name = schema.get('collection') ?? '';
    const made = (await db.collection(name).indexes()).length;
    // A time series collection has no index of ids.
    expect([name, made]).toEqual([name, schema.indexes().length + (schema.get('timeseries') ? 0 : 1)]);
  }
  expect(await missingUniqueIndexes(db)).toEqual([]);
  expect(await credentials.find().toArray()).toMatchObject([{ accessToken: null, refreshToken: null }]);
  expect(await db.collection('vote_counters').countDocuments({ raises: { $exists: true } })).toBe(0);
  expect(await servers.countDocuments({ probe: { $exists: true }, slugs: { $exists: true } })).toBe(2);
  expect(await reviewLists.findOne()).toMatchObject({ count: 2, spread: { 4: 1, 5: 1 } });
}

it('each migration is a numbered file', async () => {
  const files = await readdir(new URL('../../src/database/migrations', import.meta.url));
  expect(files.toSorted()).toEqual(NAMES.map((name) => `${name}.ts`));
  expect(NAMES.map((name) => Number(name.slice(0, 4)))).toEqual(NAMES.map((_, place) => place + 1));
});

describe.each([1, 2])('a database of the pool, lent for the time no. %i', () => {
  it('has had all migrations', async () => {
    expect(await pendingOf(await testDeps())).toEqual([]);
  });
});

it('a new database runs no migration and has had all', async () => {
  const deps = await testDeps({ MONGODB_URI: unmigratedNames().mongodbUri });
  expect(await pendingOf(deps)).toEqual([]);
  expect(await migrateDatabase(deps.mongo)).toEqual({ created: [], migrations: [] });
});

describe('a database that 0.1.0 made', () => {
  it('gets what is missing and loses nothing; a second run changes nothing', async () => {
    const { deps } = await databaseOf('0.1.0');
    const before = await documentsOf(deps);
    expect(await pendingOf(deps)).toEqual(NAMES);
    expect((await migrateDatabase(deps.mongo)).migrations).toEqual(NAMES);
    await expectComplete(deps);
    const { migrations, ...after } = await documentsOf(deps);
    expect(migrations).toHaveLength(NAMES.length);
    for (const unchanged of ['votes', 'listeners', 'servers', 'api_tokens', 'reviews', 'status_samples'])
      expect(after[unchanged]).toEqual(before[unchanged]);

    expect(await migrateDatabase(deps.mongo)).toEqual({ created: [], migrations: [] });
    expect(await documentsOf(deps)).toEqual({ migrations, ...after });
  });

  it('a run that fails half-way is completed by the next', async () => {
    const { deps } = await databaseOf('0.1.0');
    const failed = migrateDatabase(deps.mongo, failingAt(2));
    await expect(failed).rejects.toMatchObject({ code: 'migration-failed' });
    await expect(failed).rejects.toThrow(`The migration ${NAMES[2]} failed: the process was killed`);
    expect(await pendingOf(deps)).toEqual(NAMES.slice(2));
    expect(await migrateDatabase(deps.mongo)).toEqual({ created: [], migrations: NAMES.slice(2) });
    await expectComplete(deps);
  });

  it('a migration that was done but not noted runs again', async () => {
    const { deps } = await databaseOf('0.1.0');
    await migrateDatabase(deps.mongo);
    const documents = await documentsOf(deps);
    await deps.migrations.deleteMany({});
    expect((await migrateDatabase(deps.mongo)).migrations).toEqual(NAMES);
    // The mark of imports is two days after the run.
    const later = { migrations: expect.anything(), import_marks: [expect.anything()] };
    expect(await documentsOf(deps)).toEqual({ ...documents, ...later });
  });

  it('two machines migrate it at once', async () => {
    const { deps } = await databaseOf('0.1.0');
    const other = await openMongo(deps.config.MONGODB_URI, deps.log);
    onTestFinished(() => other.close());
    const runs = await Promise.all([deps.mongo, other].map((mongo) => migrateDatabase(mongo)));
    expect(new Set(runs.flatMap(({ migrations }) => migrations))).toEqual(new Set(NAMES));
    expect(await pendingOf(deps)).toEqual([]);
    await expectComplete(deps);
  });
});
