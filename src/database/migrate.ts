import { CodedError } from '../platform/app-error.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { type Mongo, openMongo } from '../platform/mongo.ts';
import { bindCollections } from './collections.ts';
import { type BeforeWrite, makeIndexes } from './indexes.ts';
import { MIGRATIONS, type Migration, noteApplied, runMigrations } from './migrations.ts';
import { hasUnfinishedRestore } from './unfinished-restore.ts';

export type Migrated = { created: string[]; migrations: string[] };

/**
 * Prepares a database for this version. Two calls do no harm, even at the same time.
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

/** Does not refuse an unfinished restore, whose last step it is. In an empty database no migration is needed. */
export async function prepareDatabase(
  mongo: Mongo,
  migrations: readonly Migration[] = MIGRATIONS,
  beforeWrite: BeforeWrite = async () => undefined,
): Promise<Migrated> {
  const { created, wasEmpty } = await makeIndexes(mongo, beforeWrite);
  if (wasEmpty) {
    await beforeWrite();
    await noteApplied(mongo, migrations);
    return { created, migrations: [] };
  }
  return { created, migrations: await runMigrations(mongo, migrations, beforeWrite) };
}

/** @throws {CodedError} `restore-unfinished` */
export async function refuseUnfinishedRestore(mongo: Mongo): Promise<void> {
  if (await hasUnfinishedRestore(bindCollections(mongo))) {
    throw new CodedError(
      'restore-unfinished',
      `A restore into “${mongo.db.databaseName}” has not ended: wait for it, run \`tallyport restore\` with the same backup again, or use another database.`,
    );
  }
}

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
