import { readFile } from 'node:fs/promises';
import {
  BSON,
  type CreateCollectionOptions,
  type Document,
  type IndexDescription,
  type ObjectId,
} from 'mongodb';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { unmigratedNames } from '../support/databases.ts';
import { testConfig } from '../support/test-deps.ts';

type Stored = {
  /** The server that `token` is for. */
  serverId: ObjectId;
  token: string;
  collections: Record<
    string,
    { options?: CreateCollectionOptions; indexes: IndexDescription[]; documents: Document[] }
  >;
};

/**
 * A database as an earlier release made it, from `databases/VERSION.json`, and a platform on it. That release's own
 * `migrate`, features and worker made the collections, indexes and documents.
 */
export async function databaseOf(version: string) {
  const file = new URL(`databases/${version}.json`, import.meta.url);
  const stored: Stored = BSON.EJSON.parse(await readFile(file, 'utf8'));
  const deps = await openAppDeps(testConfig({ MONGODB_URI: unmigratedNames().mongodbUri }), 'test');
  atTheEnd(() => deps.close());
  const { db } = deps.mongo;
  for (const [name, { options, indexes, documents }] of Object.entries(stored.collections)) {
    await db.createCollection(name, options);
    if (indexes.length > 0) await db.collection(name).createIndexes(indexes);
    if (documents.length > 0) await db.collection(name).insertMany(documents);
  }
  return { deps, serverId: stored.serverId, token: stored.token };
}

/** All documents of a database, by collection. */
export async function documentsOf({ mongo: { db } }: AppDeps): Promise<Record<string, Document[]>> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
  const read = names.map(async (name) => [name, await db.collection(name).find().sort({ _id: 1 }).toArray()]);
  return Object.fromEntries(await Promise.all(read));
}
