import { expect, it, onTestFinished } from 'vitest';
import { OverloadError } from '../src/batching/lanes.ts';
import { DeadlineError } from '../src/deadline.ts';
import { isPassingFault } from '../src/passing-faults.ts';
import { LeaseLostError } from '../src/periods/work-lease.ts';
import { UnsealError } from '../src/secrets.ts';
import { startMongod } from './support/services.ts';
import { testPlatform } from './support/test-platform.ts';

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('it went well');
    },
    (error: unknown) => error,
  );

it('a mongod that is away, or was restarted below a cursor, is a passing fault', async () => {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const { mongo } = await testPlatform({ MONGODB_URI: `${mongod.uri}/faults` });
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
    expect(isPassingFault(fault), String(fault)).toBe(true);
  }
  await mongod.restart();
  await things.findOne({});
  const fault = await faultOf(cursor.toArray());
  expect(isPassingFault(fault), String(fault)).toBe(true);
}, 40_000);

it.each([
  [true, new LeaseLostError('x')],
  [true, new DeadlineError(5)],
  [true, new OverloadError()],
  [true, Object.assign(new Error('LOADING Redis is loading the dataset in memory'), { name: 'ReplyError' })],
  [false, Object.assign(new Error('NOPERM no rights'), { name: 'ReplyError' })],
  [false, new UnsealError('x')],
  [false, new TypeError('x is not a function')],
  [false, 'a text'],
])('it is %s that %s passes by itself', (passes, fault) => {
  expect(isPassingFault(fault)).toBe(passes);
});

it('what MongoDB refuses for good does not pass by itself', async () => {
  const { mongo } = await testPlatform();
  const things = mongo.db.collection<{ _id: number }>('things');
  await things.insertOne({ _id: 1 });
  expect(isPassingFault(await faultOf(things.insertOne({ _id: 1 })))).toBe(false);
  expect(isPassingFault(await faultOf(things.bulkWrite([{ insertOne: { document: { _id: 1 } } }])))).toBe(
    false,
  );
});
