import { afterAll, expect, test } from 'vitest';
import { aggregateFew, findFew, findFirst } from '../../../src/platform/batching/find-few.ts';
import { MAJORITY, openMongo } from '../../../src/platform/mongo.ts';
import { mongoCommand, startFaultProxy } from '../../support/fault-proxy.ts';
import { testConfig } from '../../support/test-deps.ts';

type Thing = { _id: number; n: number };

const { MONGODB_URI } = testConfig();
const proxy = await startFaultProxy(Number(new URL(MONGODB_URI).port), 'mongodb');
const mongo = await openMongo(proxy.through(MONGODB_URI), { warn: () => undefined } as never);
const things = mongo.db.collection<Thing>('few_things');
afterAll(async () => {
  await mongo.close();
  await proxy.close();
});

const ALL = Array.from({ length: 10_001 }, (_, n) => ({ _id: n, n: -n }));
await things.insertMany(ALL);

test('documents are found by filter, order, limit, projection and read concern', async () => {
  const options = { sort: { n: 1 }, projection: { n: 1, _id: 0 }, limit: 2, ...MAJORITY } as const;
  expect(await findFew(things, { _id: { $lt: 900 } }, options)).toEqual([{ n: -899 }, { n: -898 }]);
  expect(await findFirst(things, {}, { sort: { n: 1 } })).toEqual({ _id: 10_000, n: -10_000 });
  expect(await findFirst(things, { _id: -1 })).toBeNull();
});

test('more documents than one answer has are all read', async () => {
  const openBefore = (await mongo.db.admin().command({ serverStatus: 1 })).metrics.cursor.open.total;
  expect(await findFew(things, {}, { sort: { _id: 1 } })).toEqual(ALL);
  expect(await aggregateFew(things, [{ $sort: { _id: 1 } }], MAJORITY)).toEqual(ALL);
  const { metrics } = await mongo.db.admin().command({ serverStatus: 1 });
  expect(metrics.cursor.open.total).toBe(openBefore);
});

test('a read whose connection is lost is made again, once', async () => {
  const reading = mongoCommand('find', 'few_things');
  const once = proxy.cutAfterNext(reading);
  expect(await findFirst(things, { _id: 7 })).toEqual({ _id: 7, n: -7 });
  await once;
  const twice = [proxy.cutBeforeNext(reading), proxy.cutBeforeNext(reading)];
  await expect(findFirst(things, { _id: 7 })).rejects.toThrow(/connection/);
  await Promise.all(twice);
});
