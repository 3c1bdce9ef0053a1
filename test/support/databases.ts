import { randomBytes } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { createLogger } from '../../src/platform/log.ts';
import { LONG_OPERATION_TIMEOUT_MS, type Mongo, openMongo } from '../../src/platform/mongo.ts';

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

/** Open connections to databases of the pool, by address. */
const connections = new Map<string, Promise<Mongo>>();

/** Databases that the whole file uses. */
const ofFile: { database: string; end: End }[] = [];
let client: MongoClient | undefined;

/**
 * Returns the databases of the file to the pool. `setup.ts` registers it first, so it runs last, when everything else
 * is closed.
 */
export async function giveBackDatabases(): Promise<void> {
  for (const { database, end } of ofFile.splice(0)) await end(database);
  const opened = await Promise.all(connections.values());
  connections.clear();
  await Promise.all(opened.map((mongo) => mongo.close()));
  await client?.close();
  client = undefined;
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
 * The connection to a database of the pool. The tests of a file share it, because connecting and compiling the models
 * takes longer than most tests. Its `close` does nothing. Undefined for other databases.
 */
export async function pooledMongo(uri: string): Promise<Mongo | undefined> {
  if (!pooled.has(uri)) return undefined;
  let opening = connections.get(uri);
  if (!opening) {
    // A longer time limit than a web process has: on a busy machine an operation may take longer than 5 s.
    opening = openMongo(uri, createLogger({ LOG_LEVEL: 'silent' }, 'test'), {
      operationMs: LONG_OPERATION_TIMEOUT_MS,
    });
    connections.set(uri, opening);
  }
  return { ...(await opening), close: async () => undefined };
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
  const db = open(database);
  const collections = await collectionsOf(db);
  const unchanged = migrated.get(addressOf(database)) === describe(collections);
  const filled = unchanged ? await countDocuments(db, collections) : [];
  if (unchanged && filled.reduce((all, { count }) => all + count, 0) < MANY) {
    await Promise.all(filled.map(({ name }) => db.collection(name).deleteMany({})));
  } else {
    migrated.delete(addressOf(database));
    if (collections.length > 0) await db.dropDatabase();
  }
  free.push(database);
}

async function drop(database: string): Promise<void> {
  await open(database).dropDatabase();
}

function open(database: string): Db {
  client ??= new MongoClient(inject('mongodbUri'));
  return client.db(database);
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
