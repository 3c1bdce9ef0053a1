import { randomBytes } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { type CommandStartedEvent, type Db, type Document, MongoClient } from 'mongodb';
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

/** For each migrated database of the pool: its collections, and the options of each. */
const migrated = new Map<string, Map<string, string>>();

/** The pool's databases in use. */
const lent = new Set<string>();

/** For each database: how many documents the shared clients have written to which collections since it was emptied. */
const written = new Map<string, Map<string, number>>();

/** Databases in which a shared client did more than write documents, such as changing a collection. */
const changed = new Set<string>();

/** Databases into which something else than the shared clients may have written. */
const suspected = new Set<string>();

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
  lent.add(database);
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

/** A connection of this worker, which closes when its process ends. It notes what it writes. */
async function openShared(durable: boolean): Promise<Mongo> {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  // On a busy machine an operation may take longer than the 5 s that a web process gives it.
  const options = { operationMs: LONG_OPERATION_TIMEOUT_MS, durable };
  const mongo = await openMongo(`${addressOf('test')}?monitorCommands=true`, log, options);
  mongo.connection.getClient().on('commandStarted', noteCommand);
  return mongo;
}

/** Commands that write no document. */
const READS =
  /^(find|getMore|aggregate|count|distinct|listCollections|listIndexes|delete|explain|hello|ping|killCursors|endSessions|(commit|abort)Transaction|buildInfo|serverStatus|replSet\w+)$/;

function noteCommand({ databaseName, commandName, command }: CommandStartedEvent): void {
  const merged = commandName === 'aggregate' ? resultOf(command.pipeline) : undefined;
  if (READS.test(commandName) && merged === undefined) return;
  if (databaseName === 'admin') suspectAll();
  const isWrite = /^(insert|update|findAndModify)$/.test(commandName);
  const name = isWrite ? String(command[commandName]) : merged;
  if (typeof name !== 'string' || name === 'migrations') return void changed.add(databaseName);
  const names = written.get(databaseName) ?? new Map<string, number>();
  const { length: count } = command.documents ?? command.updates ?? [command];
  written.set(databaseName, names.set(name, (names.get(name) ?? 0) + count));
}

/** The collection into which an aggregation merges its result; something else if it writes it in another way. */
function resultOf(pipeline: Document[]): unknown {
  const { $merge: merge, $out: out } = pipeline.at(-1) ?? {};
  return out ? { out } : (merge?.into ?? merge);
}

// Another client, or a process that a test starts, may write to any database in use.
const suspectAll = () => {
  for (const database of lent) suspected.add(database);
};
subscribe('child_process', suspectAll);
const connect = MongoClient.prototype.connect;
MongoClient.prototype.connect = function (this: MongoClient) {
  if (this.options.monitorCommands !== true) suspectAll();
  return connect.call(this);
};

/**
 * Migrates the database at `uri`, unless it comes from the pool with its collections and indexes. If a test drops an
 * index, it must create it again; any other change of the collections is noticed.
 */
export async function migrateFresh({ mongo }: { mongo: Mongo }, uri: string): Promise<void> {
  if (migrated.has(uri)) return;
  const { db } = mongo;
  const { databaseName } = db;
  const wasChanged = changed.has(databaseName);
  await migrateDatabase(mongo);
  if (uri !== addressOf(databaseName)) return;
  migrated.set(uri, optionsOf(await collectionsOf(db)));
  if (!wasChanged) changed.delete(databaseName);
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

/** Deleting more documents than this takes longer than making the collection anew. */
const MANY = 2_000;

/** Returns a database to the pool, without documents. */
async function giveBack(database: string): Promise<void> {
  const db = await open(database);
  const options = migrated.get(addressOf(database));
  const names = [...(written.get(database)?.keys() ?? [])];
  const isAsMigrated = options && names.every((name) => options.has(name)) && isKnown(database);
  const filled = isAsMigrated ? takeWritten(database) : await dropChanged(db, options);
  const large = filled.filter(({ count }) => count > MANY);
  const others = filled.filter(({ count }) => count <= MANY);
  await Promise.all([
    ...large.map(({ name }) => db.dropCollection(name)),
    ...others.map(({ name }) => db.collection(name).deleteMany({})),
  ]);
  // The next `migrateFresh` makes what was dropped.
  if (large.length > 0) migrated.delete(addressOf(database));
  for (const set of [lent, changed, suspected]) set.delete(database);
  free.push(database);
}

/** Whether everything that was done in the database is in `written`. */
const isKnown = (database: string) => !changed.has(database) && !suspected.has(database);

function takeWritten(database: string): { name: string; count: number }[] {
  const names = written.get(database) ?? new Map<string, number>();
  written.delete(database);
  return [...names].map(([name, count]) => ({ name, count }));
}

/**
 * Drops the collections that a test added or changed, or the database if it was not migrated or has a profile. Returns
 * the other collections that have documents.
 */
async function dropChanged(
  db: Db,
  options: Map<string, string> | undefined,
): Promise<{ name: string; count: number }[]> {
  written.delete(db.databaseName);
  const found = await collectionsOf(db);
  const now = optionsOf(found);
  if (!options || now.has('system.profile')) {
    migrated.delete(addressOf(db.databaseName));
    if (found.length > 0) await db.dropDatabase();
    return [];
  }
  const isSame = ({ name }: Info) => now.get(name) === options.get(name);
  const kept = found.filter(isSame);
  if (kept.length < Math.max(found.length, options.size)) migrated.delete(addressOf(db.databaseName));
  await Promise.all(found.filter((one) => !isSame(one)).map(({ name }) => db.dropCollection(name)));
  return countDocuments(db, kept);
}

/** Deletes all documents of a migrated database, for the next test of a file whose tests share it. */
export async function emptyDatabase({ db }: Mongo): Promise<void> {
  const { databaseName } = db;
  const filled = isKnown(databaseName)
    ? takeWritten(databaseName)
    : await countDocuments(db, await collectionsOf(db));
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

/** The options of each collection, as text. */
function optionsOf(collections: Info[]): Map<string, string> {
  return new Map(collections.map(({ name, options }) => [name, JSON.stringify(options)]));
}

/**
 * The collections that have documents, with their numbers, read in one command. The records of applied migrations are
 * left out.
 */
async function countDocuments(db: Db, collections: Info[]): Promise<{ name: string; count: number }[]> {
  const counts = collections
    .filter(({ name }) => name !== 'migrations' && name !== 'system.profile')
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
