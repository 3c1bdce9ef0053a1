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
