import { CodedError } from '../platform/app-error.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { type Mongo, openMongo } from '../platform/mongo.ts';
import { bindCollections } from './collections.ts';
import { makeIndexes } from './indexes.ts';
import { MIGRATIONS, type Migration, noteApplied, runMigrations } from './migrations.ts';
import { hasUnfinishedRestore } from './unfinished-restore.ts';

/** What `migrateDatabase` did: the collections and indexes that it made and the migrations that it ran. */
export type Migrated = { created: string[]; migrations: string[] };

/**
 * Prepares a database for this version: first collections and indexes, then the pending migrations. In an empty
 * database no migration is needed, so all are recorded as applied. Two calls do no harm, even at the same time.
 *
 * @throws {CodedError} `restore-unfinished`, and what `prepareDatabase` throws
 */
export async function migrateDatabase(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migrated> {
  await refuseUnfinishedRestore(mongo);
  return prepareDatabase(mongo, migrations);
}

/**
 * Like `migrateDatabase`, but does not refuse an unfinished restore: a restore calls this function as its last step.
 *
 * @throws what `makeIndexes` and `runMigrations` throw
 */
export async function prepareDatabase(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migrated> {
  const { created, wasEmpty } = await makeIndexes(mongo);
  if (wasEmpty) {
    await noteApplied(mongo, migrations);
    return { created, migrations: [] };
  }
  return { created, migrations: await runMigrations(mongo, migrations) };
}

/** @throws {CodedError} `restore-unfinished` when the database contains only a part of a backup */
export async function refuseUnfinishedRestore(mongo: Mongo): Promise<void> {
  if (await hasUnfinishedRestore(bindCollections(mongo))) {
    throw new CodedError(
      'restore-unfinished',
      `A restore into “${mongo.db.databaseName}” has not ended: wait for it, run \`tallyport restore\` with the same backup again, or use another database.`,
    );
  }
}

/** Runs `migrateDatabase` on the configured database and logs what was done. */
export async function migrate(config: Pick<ConnectedConfig, 'MONGODB_URI'>, log: Logger): Promise<Migrated> {
  const mongo = await openMongo(config.MONGODB_URI, log, { operationMs: 0 });
  try {
    const migrated = await migrateDatabase(mongo);
    log.info({ event: 'database.migrated', ...migrated }, 'the database is ready');
    return migrated;
  } finally {
    await mongo.close();
  }
}
