import { CodedError } from '../platform/app-error.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { type Mongo, openMongo } from '../platform/mongo.ts';
import { bindCollections } from './collections.ts';
import { makeIndexes } from './indexes.ts';
import { MIGRATIONS, type Migration, noteApplied, runMigrations } from './migrations.ts';
import { hasUnfinishedRestore } from './unfinished-restore.ts';

/** What `migrate` did: the collections and indexes that it made, then the migrations that were pending. */
export type Migrated = { made: string[]; ran: string[] };

/**
 * Gives a database what this version needs: collections and indexes first, then the pending migrations. An empty
 * database gets a note of each migration and runs none. Run by the release step and by `npm start`; running it twice,
 * or on two machines at once, does no harm.
 *
 * @throws {CodedError} `restore-unfinished`; as `prepareDatabase`
 */
export async function migrateDatabase(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migrated> {
  await refuseUnfinishedRestore(mongo);
  return prepareDatabase(mongo, migrations);
}

/** `migrateDatabase` for the restore itself, whose last step it is. Throws as `makeIndexes` and `runMigrations` do. */
export async function prepareDatabase(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Migrated> {
  const { made, wasEmpty } = await makeIndexes(mongo);
  if (wasEmpty) {
    // There are no documents of an earlier version.
    await noteApplied(mongo, migrations);
    return { made, ran: [] };
  }
  return { made, ran: await runMigrations(mongo, migrations) };
}

/** @throws {CodedError} `restore-unfinished`: the database contains only a part of a backup */
export async function refuseUnfinishedRestore(mongo: Mongo): Promise<void> {
  if (await hasUnfinishedRestore(bindCollections(mongo))) {
    throw new CodedError(
      'restore-unfinished',
      `A restore into “${mongo.db.databaseName}” has not ended: wait for it, run \`tallyport restore\` with the same backup again, or use another database.`,
    );
  }
}

/** `migrateDatabase` on the configured database, with a line in the log for what was done. */
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
