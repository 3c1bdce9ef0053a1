import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createLogger } from '../../src/platform/log.ts';
import { LONG_OPERATION_TIMEOUT_MS, type Mongo, openMongo } from '../../src/platform/mongo.ts';
import { once } from '../../src/platform/once.ts';

/** A database and a queue prefix that no other test uses, on the services that all tests share. */
export type FreshNames = { mongodbUri: string; redisUrl: string; queuePrefix: string };

type End = (database: string) => Promise<void>;

/** Databases of this vitest worker that no test uses now. Each is empty or does not exist yet. */
const free: string[] = [];
let named = 0;

/** The addresses of all databases in the pool. */
const pooled = new Set<string>();

/** For each migrated database of the pool: its collections. */
const migrated = new Map<string, string>();

/** Connections to the databases of the pool, by address and durability. The files of the worker share them. */
const connections = new Map<string, Mongo>();

/** Databases that the whole file uses. */
const ofFile: { database: string; end: End }[] = [];

/**
 * Returns the databases of the file to the pool. `setup.ts` registers it first, so it runs last, when everything else
 * is closed.
 */
export async function giveBackDatabases(): Promise<void> {
  for (const { database, end } of ofFile.splice(0)) await end(database);
}

/**
 * New names for a database and a queue prefix. Call it once per test file, or once per test if tests must not see each
 * other's data. The database is empty; `migrateFresh` migrates it. It comes from a pool: databases of ended tests of
 * the same vitest worker are emptied and used again.
 */
export function freshNames(): FreshNames {
  named += free.length === 0 ? 1 : 0;
  const database = free.pop() ?? `test_${process.pid}_${named}`;
  pooled.add(addressOf(database));
  return lend(database, giveBack);
}

/** New names for a database that does not exist yet. It is dropped when the test or file ends. */
export function unmigratedNames(): FreshNames {
  return lend(`test_once_${randomBytes(6).toString('hex')}`, drop);
}

/**
 * The connection to a database of the pool, which all tests of the worker share: to connect and to compile the models
 * costs more than most tests. Its `close` does nothing. Undefined for other databases.
 *
 * @param durable - whether its writes wait for the journal, as those of commands do
 */
export async function pooledMongo(uri: string, durable = false): Promise<Mongo | undefined> {
  if (!pooled.has(uri)) return undefined;
  const mongo = await (durable ? durableMongo() : sharedMongo());
  const key = `${uri} ${durable}`;
  let opened = connections.get(key);
  if (!opened) {
    const connection = mongo.connection.useDb(uri.slice(addressOf('').length));
    if (!connection.db) throw new Error('the connection is not open');
    opened = { ...mongo, connection, db: connection.db, close: async () => undefined };
    connections.set(key, opened);
  }
  return { ...opened };
}

const sharedMongo = once(() => openShared(false));
const durableMongo = once(() => openShared(true));

/** A connection of this worker, which closes when its process ends. */
function openShared(durable: boolean): Promise<Mongo> {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  // On a busy machine an operation may take longer than the 5 s that a web process gives it.
  return openMongo(addressOf('test'), log, { operationMs: LONG_OPERATION_TIMEOUT_MS, durable });
}

/**
 * Migrates the database at `uri`, unless it comes from the pool with its collections and indexes. If a test drops an
 * index, it must create it again; any other change of the collections is noticed.
 */
export async function migrateFresh({ mongo }: { mongo: Mongo }, uri: string): Promise<void> {
  if (migrated.has(uri)) return;
  await migrateDatabase(mongo);
  const { db } = mongo;
  if (uri === addressOf(db.databaseName)) migrated.set(uri, describe(await collectionsOf(db)));
}

function addressOf(database: string): string {
  return `${inject('mongodbUri')}/${database}`;
}

function lend(database: string, end: End): FreshNames {
  try {
    onTestFinished(() => end(database));
  } catch {
    // No test is running, so the file uses the database.
    ofFile.push({ database, end });
  }
  return {
    mongodbUri: addressOf(database),
    redisUrl: inject('redisUrl'),
    queuePrefix: `test_${randomBytes(6).toString('hex')}`,
  };
}

/** Deleting more documents than this takes longer than migrating another database. */
const MANY = 2_000;

/**
 * Returns a database to the pool: empties it. If its collections have changed since the migration, or if it is large,
 * it is dropped instead.
 */
async function giveBack(database: string): Promise<void> {
  const db = await open(database);
  const collections = await collectionsOf(db);
  const unchanged = migrated.get(addressOf(database)) === describe(collections);
  const filled = unchanged ? await countDocuments(db, collections) : [];
  if (unchanged && filled.reduce((all, { count }) => all + count, 0) < MANY) {
    await empty(db, filled);
  } else {
    migrated.delete(addressOf(database));
    if (collections.length > 0) await db.dropDatabase();
  }
  free.push(database);
}

/** Deletes all documents of a migrated database, for the next test of a file whose tests share it. */
export async function emptyDatabase({ db }: Mongo): Promise<void> {
  await empty(db, await countDocuments(db, await collectionsOf(db)));
}

async function empty(db: Db, filled: { name: string }[]): Promise<void> {
  await Promise.all(filled.map(({ name }) => db.collection(name).deleteMany({})));
}

async function drop(database: string): Promise<void> {
  await (await open(database)).dropDatabase();
}

async function open(database: string): Promise<Db> {
  const { connection } = await sharedMongo();
  return connection.getClient().db(database);
}

type Info = { name: string; type?: string; options?: object };

async function collectionsOf(db: Db): Promise<Info[]> {
  const all: Info[] = await db.listCollections().toArray();
  // If a test left a profile, the database counts as changed and is dropped.
  return all.filter(({ name }) => !name.startsWith('system.') || name === 'system.profile');
}

function describe(collections: Info[]): string {
  return JSON.stringify(collections.map(({ name, options }) => [name, options]).toSorted());
}

/**
 * The collections that have documents, with their numbers, read in one command. The records of applied migrations are
 * left out.
 */
async function countDocuments(db: Db, collections: Info[]): Promise<{ name: string; count: number }[]> {
  const counts = collections
    .filter(({ name }) => name !== 'migrations')
    .map(({ name, type }) => ({
      // For a time series, `$collStats` counts its buckets.
      coll: type === 'timeseries' ? `system.buckets.${name}` : name,
      pipeline: [{ $collStats: { count: {} } }, { $project: { _id: 0, name: { $literal: name }, count: 1 } }],
    }));
  const [first, ...others] = counts;
  if (!first) return [];
  const all = [
    ...first.pipeline,
    ...others.map((one) => ({ $unionWith: one })),
    { $match: { count: { $gt: 0 } } },
  ];
  return db.collection(first.coll).aggregate<{ name: string; count: number }>(all).toArray();
}
