import { expect, it, onTestFinished } from 'vitest';
import { isTransientError } from '../../src/platform/transient-errors.ts';
import { startMongod } from '../support/services.ts';
import { testDeps } from '../support/test-deps.ts';

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('it went well');
    },
    (error: unknown) => error,
  );

it('an unavailable mongod, or one restarted during a cursor, is a transient error', async () => {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const { mongo } = await testDeps({ MONGODB_URI: `${mongod.uri}/faults` });
  const things = mongo.db.collection('things');
  await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ n })));
  const cursor = things.find({}, { batchSize: 10 });
  await cursor.next();
  await mongod.kill();
  const write = { updateOne: { filter: { n: 1 }, update: { $set: { n: 2 } } } };
  for (const work of [
    () => things.findOne({}),
    () => things.bulkWrite([write]),
    () => things.insertOne({}),
  ]) {
    const fault = await faultOf(work());
    expect(isTransientError(fault), String(fault)).toBe(true);
  }
  await mongod.restart();
  await things.findOne({});
  const fault = await faultOf(cursor.toArray());
  expect(isTransientError(fault), String(fault)).toBe(true);
});
