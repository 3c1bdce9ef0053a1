import { randomBytes } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { SCHEMAS } from '../../src/collections.ts';

/** A database and a queue prefix that no other test uses, on the services that all tests share. */
export type FreshNames = { mongodbUri: string; redisUrl: string; queuePrefix: string };

type End = (database: string) => Promise<void>;

const MIGRATED = new Set(SCHEMAS.map((schema) => schema.get('collection')));

/** Names of this worker's databases that no test uses now. Each is empty or does not exist yet. */
const free: string[] = [];
let named = 0;

/** What the file uses as a whole, and none of its tests alone. */
const ofFile: { database: string; end: End }[] = [];
let client: MongoClient | undefined;

/** Gives back what the file used as a whole. `setup.ts` registers it first, so all else is closed by then. */
export async function giveBackDatabases(): Promise<void> {
  for (const { database, end } of ofFile.splice(0)) await end(database);
  await client?.close();
  client = undefined;
}

/**
 * New names; call it once per test file, or once per test where tests would see each other. The database is empty. It
 * comes from a pool of those that earlier tests of the same vitest worker used, so `migrateDatabase` finds most of its
 * collections and indexes made already. It is emptied when that test or file has ended.
 */
export function freshNames(): FreshNames {
  named += free.length === 0 ? 1 : 0;
  const database = free.pop() ?? `test_${process.env.VITEST_POOL_ID}_${named}`;
  return lend(database, giveBack);
}

/** New names of a database that does not exist yet. It is dropped when that test or file has ended. */
export function unmigratedNames(): FreshNames {
  return lend(`test_once_${randomBytes(6).toString('hex')}`, drop);
}

function lend(database: string, end: End): FreshNames {
  try {
    onTestFinished(() => end(database));
  } catch {
    // Called outside a test.
    ofFile.push({ database, end });
  }
  return {
    mongodbUri: `${inject('mongodbUri')}/${database}`,
    redisUrl: inject('redisUrl'),
    queuePrefix: `test_${randomBytes(6).toString('hex')}`,
  };
}

async function giveBack(database: string): Promise<void> {
  await empty(open(database));
  free.push(database);
}

async function drop(database: string): Promise<void> {
  await open(database).dropDatabase();
}

function open(database: string): Db {
  client ??= new MongoClient(inject('mongodbUri'));
  return client.db(database);
}

/** More documents than this are dropped with their collection, which is faster than to delete them. */
const FEW = 200;

/** Deletes all documents, and the collections that have many, hold a time series or are in no schema. */
async function empty(db: Db): Promise<void> {
  await db.command({ profile: 0 });
  const collections = await db.listCollections({ type: { $ne: 'view' } }).toArray();
  const work = collections.map(async ({ name, type }) => {
    if (name.startsWith('system.') && name !== 'system.profile') return;
    const collection = db.collection(name);
    const stored = type === 'timeseries' ? db.collection(`system.buckets.${name}`) : collection;
    const count = await stored.estimatedDocumentCount();
    if (count > FEW || (count > 0 && type === 'timeseries') || !MIGRATED.has(name)) await collection.drop();
    else if (count > 0) await collection.deleteMany({});
  });
  await Promise.all(work);
}
