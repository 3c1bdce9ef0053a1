import { MongoClient, type MongoClientOptions } from 'mongodb';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { createLogger } from '../../src/platform/log.ts';
import { isDuplicateKey, isUnknownResult, openMongo } from '../../src/platform/mongo.ts';
import { unmigratedNames } from '../support/databases.ts';
import { type FaultProxy, mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';
import { collectLines } from '../support/log-lines.ts';

const inserting = mongoCommand('insert', 'things');

let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy(Number(new URL(inject('mongodbUri')).port), 'mongodb');
});
afterAll(() => proxy.close());

/**
 * A connected client behind the proxy, and a collection. No other test uses its database: delayed requests may
 * arrive after the end.
 */
async function connected(options: MongoClientOptions = {}) {
  const client = new MongoClient(proxy.through(unmigratedNames().mongodbUri), {
    serverSelectionTimeoutMS: 2_000,
    ...options,
  });
  onTestFinished(async () => {
    await proxy.restore();
    await client.close();
  });
  const things = client.db().collection<{ _id: number }>('things');
  await things.insertOne({ _id: 0 });
  return { client, things };
}

/** What a promise is rejected with. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );
}

test('an insert whose connection is cut has an unknown result', async () => {
  const { things } = await connected();
  for (const cut of [proxy.cutAfterNext, proxy.cutBeforeNext]) {
    const done = cut(inserting);
    expect(isUnknownResult(await errorOf(things.insertOne({ _id: 1 })))).toBe(true);
    await done;
  }
});

test('an insert that is not answered in time has an unknown result', async () => {
  const { things } = await connected({ socketTimeoutMS: 1_000 });
  proxy.hang();
  expect(isUnknownResult(await errorOf(things.insertOne({ _id: 1 })))).toBe(true);
});

test('an insert that is interrupted because the server no longer answers its monitor has an unknown result', async () => {
  const { things } = await connected({
    connectTimeoutMS: 200,
    heartbeatFrequencyMS: 500,
    serverMonitoringMode: 'poll',
  });
  proxy.hang();
  const error = await errorOf(things.insertOne({ _id: 1 }));
  expect(error).toMatchObject({ name: 'PoolClearedOnNetworkError' });
  expect(isUnknownResult(error)).toBe(true);
});

test('a database without an available connection counts as not answering', async () => {
  const { things } = await connected({ maxPoolSize: 1, waitQueueTimeoutMS: 100 });
  const held = proxy.stallNext(inserting, async () => {
    expect(isUnknownResult(await errorOf(things.insertOne({ _id: 2 })))).toBe(true);
  });
  await things.insertOne({ _id: 1 });
  await held;
  await proxy.refuse();
  expect(isUnknownResult(await errorOf(things.insertOne({ _id: 3 })))).toBe(true);
});

test('an insert whose client is closed in the middle has an unknown result', async () => {
  const { client, things } = await connected();
  const held = proxy.stallNext(inserting, () => client.close());
  expect(isUnknownResult(await errorOf(things.insertOne({ _id: 1 })))).toBe(true);
  await held;
  const late = await errorOf(things.insertOne({ _id: 1 }));
  expect([late instanceof Error && late.name, isUnknownResult(late)]).toEqual([
    'MongoNotConnectedError',
    true,
  ]);
});

test('a refusal of the database is a known result, and so is a programming error', async () => {
  const { client, things } = await connected();
  const duplicate = await errorOf(things.insertOne({ _id: 0 }));
  expect([isDuplicateKey(duplicate), isUnknownResult(duplicate)]).toEqual([true, false]);
  await client.db().command({ collMod: 'things', validator: { _id: { $lt: 0 } } });
  const refused = await errorOf(things.insertOne({ _id: 1 }));
  expect([isDuplicateKey(refused), isUnknownResult(refused)]).toEqual([false, false]);
  expect(isUnknownResult(new TypeError('a fault'))).toBe(false);
  expect(isUnknownResult('a text')).toBe(false);
});

test('an address that names no database means `tallyport`', async () => {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  const { origin } = new URL(inject('mongodbUri').replace('mongodb:', 'http:'));
  const named = async (path: string) => {
    const mongo = await openMongo(`${origin.replace('http:', 'mongodb:')}${path}`, log);
    onTestFinished(() => mongo.close());
    return mongo.db.databaseName;
  };
  expect(await named('')).toBe('tallyport');
  expect(await named('/?retryWrites=true')).toBe('tallyport');
  expect(await named('/other')).toBe('other');
});

test('MongoDB is waited for while it starts, and no longer than asked', async () => {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  const uri = proxy.through(unmigratedNames().mongodbUri);
  await proxy.refuse();
  onTestFinished(() => proxy.restore());
  await expect(openMongo(uri, log, { timeoutMs: 0 })).rejects.toThrow(/ECONNREFUSED|closed/);
  const waiting = openMongo(uri, log);
  await proxy.restore();
  const mongo = await waiting;
  await mongo.close();
});

test('MongoDB is waited for while it gives no connection', async () => {
  const { lines, add, waitForEvent } = collectLines();
  const log = createLogger({ LOG_LEVEL: 'warn' }, 'test', { write: add });
  // The first handshake is that of the monitor; those behind it are not answered.
  let handshakes = 0;
  const afterTheFirst = (request: Buffer) => {
    handshakes += request.includes('helloOk') ? 1 : 0;
    return handshakes > 1;
  };
  const stalled = proxy.stallNext(afterTheFirst, () => waitForEvent('mongodb.waiting'));
  const mongo = await openMongo(proxy.through(unmigratedNames().mongodbUri), log, { operationMs: 300 });
  onTestFinished(() => mongo.close());
  await stalled;
  expect(lines.map(({ reason }) => reason)).toEqual([expect.stringContaining('WaitQueueTimeout')]);
});

test('writes wait for the journal if the write concern says so', async () => {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  const written = async (durable: boolean) => {
    const mongo = await openMongo(proxy.through(unmigratedNames().mongodbUri), log, { durable });
    onTestFinished(() => mongo.close());
    const journaled = proxy.stallNext(mongoCommand('insert', 'things', '\x08j\0\x01'), async () => undefined);
    const any = mongo.db.collection('things').insertOne({});
    return Promise.race([journaled.then(() => 'journaled'), any.then(() => 'plain')]);
  };
  expect(await written(true)).toBe('journaled');
  expect(await written(false)).toBe('plain');
});
