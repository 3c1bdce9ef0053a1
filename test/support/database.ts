import { pino } from 'pino';
import { bindCollections, type Collections } from '../../src/collections.ts';
import { migrateDatabase } from '../../src/migrate.ts';
import { openMongo } from '../../src/mongo.ts';
import { freshNames } from './fresh.ts';

/** A migrated database of one test file alone. */
export async function openDatabase(): Promise<Collections & { uri: string; close(): Promise<void> }> {
  const { mongodbUri: uri } = freshNames();
  const mongo = await openMongo(uri, pino({ level: 'silent' }));
  await migrateDatabase(mongo.db);
  return { ...bindCollections(mongo.db), uri, close: () => mongo.close() };
}
