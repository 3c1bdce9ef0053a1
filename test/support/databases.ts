import { randomBytes } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import type { Mongo } from '../../src/platform/mongo.ts';
import { migrateDatabase } from '../../src/process/migrate.ts';

/** A database and a queue prefix that no other test uses, on the services that all tests share. */
export type FreshNames = { mongodbUri: string; redisUrl: string; queuePrefix: string };

type End = (database: string) => Promise<void>;

/** Names of this worker's databases that no test uses now. Each is empty or does not exist yet. */
const free: string[] = [];
let named = 0;

/** The collections of migrated databases, by address. */
const migrated = new Map<string, string>();

/** Databases that the whole file uses. */
const ofFile: { database: string; end: End }[] = [];
let client: MongoClient | undefined;

/** Returns the databases of the file to the pool. `setup.ts` registers it first, so everything else is closed by then. */
export async function giveBackDatabases(): Promise<void> {
  for (const { database, end } of ofFile.splice(0)) await end(database);
  await client?.close();
  client = undefined;
}

/**
 * New names; call it once per test file, or once per test where tests would see each other. The database is empty, and
 * `migrateFresh` makes it ready. It comes from a pool of those that earlier tests of the same vitest worker used, and
 * is emptied when that test or file has ended.
 */
export function freshNames(): FreshNames {
  named += free.length === 0 ? 1 : 0;
  const database = free.pop() ?? `test_${process.pid}_${named}`;
  return lend(database, giveBack);
}

/** New names of a database that does not exist yet. It is dropped when that test or file has ended. */
export function unmigratedNames(): FreshNames {
  return lend(`test_once_${randomBytes(6).toString('hex')}`, drop);
}

/**
 * Migrates the database at `uri`, unless it comes from the pool with its collections and indexes. A test that drops an
 * index makes it again; every other change of the collections is noticed.
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
    // Called outside a test.
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

/** Empties a database if its collections are unchanged since the migration; drops it if they are not or if it is large. */
async function giveBack(database: string): Promise<void> {
  const db = open(database);
  const [collections, { objects }] = await Promise.all([collectionsOf(db), db.stats()]);
  if (migrated.get(addressOf(database)) === describe(collections) && objects < MANY) {
    await empty(db, collections);
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
  // A profile that a test left makes the database changed, so that it is dropped.
  return all.filter(({ name }) => !name.startsWith('system.') || name === 'system.profile');
}

function describe(collections: Info[]): string {
  return JSON.stringify(collections.map(({ name, options }) => [name, options]).toSorted());
}

/** Deletes all documents but the notes of applied migrations; one command finds the collections that have some. */
async function empty(db: Db, collections: Info[]): Promise<void> {
  const some = (name: string) => [{ $limit: 1 }, { $project: { _id: { $literal: name } } }];
  const [first = '', ...others] = collections.map(({ name }) => name).filter((name) => name !== 'migrations');
  const unions = others.map((coll) => ({ $unionWith: { coll, pipeline: some(coll) } }));
  const filled = await db
    .collection(first)
    .aggregate([...some(first), ...unions])
    .toArray();
  await Promise.all(filled.map(({ _id: name }) => db.collection(name).deleteMany({})));
}
