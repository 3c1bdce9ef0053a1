import { afterAll, expect, test } from 'vitest';
import { type Batcher, createBatcher } from '../../../src/platform/batching/batcher.ts';
import { insertLoader, updateLoader, upsertLoader } from '../../../src/platform/batching/write-loaders.ts';
import { openMongo, REPLICATED } from '../../../src/platform/mongo.ts';
import { mongoCommand, startFaultProxy } from '../../support/fault-proxy.ts';
import { testConfig } from '../../support/test-deps.ts';

type Thing = { _id: number; n?: number | null; left?: undefined };

const { MONGODB_URI } = testConfig();
const proxy = await startFaultProxy(Number(new URL(MONGODB_URI).port), 'mongodb');
const log = { warn: () => undefined } as never;
const mongo = await openMongo(proxy.through(MONGODB_URI), log);
const things = mongo.db.collection<Thing>('things');
afterAll(async () => {
  await mongo.close();
  await proxy.close();
});

const IDS = Array.from({ length: 20 }, (_, i) => i);
const inserting = insertLoader<Thing>(REPLICATED);
const updating = updateLoader<Thing>(REPLICATED);
const upserting = upsertLoader<Thing>(REPLICATED);

function settle(asked: (batcher: Batcher) => Promise<unknown>[]): Promise<PromiseSettledResult<unknown>[]> {
  return Promise.allSettled(asked(createBatcher()));
}

test('undefined fields are omitted in a batch of inserts, as in a single insert', async () => {
  await settle((batcher) => IDS.map((_id) => batcher.load(inserting, things, { _id, left: undefined })));
  expect(await things.countDocuments({ left: { $exists: false } })).toBe(IDS.length);
});

test.each([
  ['before MongoDB had them', 'cutBeforeNext', updating, 'things'],
  ['after MongoDB had them', 'cutAfterNext', updating, 'things'],
  ['before MongoDB had them', 'cutBeforeNext', upserting, 'others'],
  ['after MongoDB had them', 'cutAfterNext', upserting, 'others'],
] as const)('updates whose connection was lost %s are all applied (%#)', async (_, fault, kind, name) => {
  const collection = mongo.db.collection<Thing>(name);
  const n = Math.random();
  const cut = proxy[fault](mongoCommand('update', name));
  const ends = await settle((batcher) =>
    IDS.map((_id) => batcher.load(kind, collection, { q: { _id }, u: { $set: { n } } })),
  );
  await cut;
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect(await collection.countDocuments({ n })).toBe(IDS.length);
});

test('updates whose shard a mongos could not reach are sent once more, the others not', async () => {
  const sent: unknown[] = [];
  const db = {
    // As a mongos answers an unordered command while a shard steps down.
    async command({ updates }: { updates: { q: { _id: number } }[] }) {
      const isFirst = sent.length === 0;
      sent.push(updates.map(({ q }) => q._id));
      const writeErrors = [
        { index: 1, code: 11_602, errmsg: 'interrupted' },
        { index: 2, code: 11_000, errmsg: 'duplicate' },
      ];
      return isFirst ? { n: 1, writeErrors } : { n: 1 };
    },
  };
  const faulty = { db, collectionName: 'things' } as unknown as typeof things;
  const [one, two, three] = await settle((batcher) =>
    [1, 2, 3].map((_id) => batcher.load(updating, faulty, { q: { _id }, u: { $set: { n: 1 } } })),
  );
  expect(sent).toEqual([[1, 2, 3], [2]]);
  expect([one?.status, two?.status, three?.status]).toEqual(['fulfilled', 'fulfilled', 'rejected']);
});
