import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MongoClient, ObjectId, UUID } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { testDeps } from './test-deps.ts';

const usernames = ({ mongo: { db } }: AppDeps) => db.collection<{ _id: string; name?: string }>('people');

/** The collections with their options and indexes, and how many documents they have. */
async function contentsOf({ mongo: { db } }: AppDeps) {
  const all = await db.listCollections().toArray();
  const found = all
    .filter(({ name }) => !name.startsWith('system.'))
    .map(async (collection) => ({
      ...collection,
      // The id of a collection that was made anew.
      info: undefined,
      indexes: await db.collection(collection.name).indexes(),
      documents: await db.collection(collection.name).countDocuments(),
    }));
  return (await Promise.all(found)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What tests do to a database. */
const CHANGES: Record<string, (deps: AppDeps) => Promise<unknown>> = {
  'does nothing': async () => undefined,
  inserts: (deps) => usernames(deps).insertOne({ _id: 'a' }),
  'inserts by an update': (deps) =>
    usernames(deps).updateOne({ _id: 'a' }, { $set: { name: 'a' } }, { upsert: true }),
  'finds, or else inserts': (deps) =>
    usernames(deps).findOneAndUpdate({ _id: 'a' }, { $set: { name: 'a' } }, { upsert: true }),
  'inserts in bulk': (deps) => usernames(deps).bulkWrite([{ insertOne: { document: { _id: 'a' } } }]),
  'inserts by a command': (deps) => deps.mongo.db.command({ insert: 'people', documents: [{ _id: 'a' }] }),
  'inserts with a model': (deps) =>
    deps.users.insertOne({ _id: new ObjectId(), email: 'a@example.org' } as never),
  'inserts into a time series': (deps) =>
    deps.statusSamples.insertOne({ serverId: new ObjectId(), at: new Date(), status: 'online' } as never),
  'inserts 3,000 documents': (deps) =>
    deps.votes.insertMany(
      Array.from({ length: 3_000 }, () => ({
        _id: new UUID(),
        usernameKey: new UUID().toString(),
      })) as never[],
    ),
  'merges a result': async (deps) => {
    await deps.mongo.db.aggregate([{ $documents: [{ _id: 'a' }] }, { $merge: 'people' }]).toArray();
  },
  'writes a result into a collection of its own': async (deps) => {
    await deps.mongo.db.aggregate([{ $documents: [{ _id: 'a' }] }, { $out: 'results' }]).toArray();
  },
  'makes a collection': (deps) => deps.mongo.db.collection('another').insertOne({}),
  'drops a collection': (deps) => deps.mongo.db.dropCollection('votes'),
  'changes a collection': (deps) => deps.mongo.db.command({ collMod: 'people', validator: { name: 'a' } }),
  'lets samples live for ever': (deps) =>
    deps.mongo.db.command({ collMod: 'status_samples', expireAfterSeconds: 'off' }),
  'opens another client': async ({ config }) => {
    const client = new MongoClient(config.MONGODB_URI);
    await client.db().collection('people').insertOne({ name: 'a' });
    await client.close();
  },
  'starts a process': async ({ config, mongo: { db } }) => {
    const script = `const { MongoClient } = require('mongodb');
      const client = new MongoClient(process.argv[1]);
      client.db().collection('people').insertOne({}).then(() => client.close());`;
    const child = spawn(process.execPath, ['-e', script, config.MONGODB_URI]);
    await once(child, 'exit');
    expect(await db.collection('people').countDocuments()).toBe(1);
  },
};

describe('the next test gets the same database as it was migrated, without documents, after one that', () => {
  let first: { name: string; contents: Awaited<ReturnType<typeof contentsOf>> } | undefined;

  it.each([
    ...Object.entries(CHANGES),
    ['has ended', async () => undefined] as const,
  ])('%s', async (_what, change) => {
    const deps = await testDeps();
    // What the test before it left.
    const { databaseName: name } = deps.mongo.db;
    first ??= { name, contents: await contentsOf(deps) };
    expect({ name, contents: await contentsOf(deps) }).toEqual(first);
    expect(first.contents.flatMap(({ name, documents }) => (documents > 0 ? [name] : []))).toEqual([
      'migrations',
    ]);
    await change(deps);
  });
});
