import { expect, it } from 'vitest';
import { OverloadError } from '../../src/platform/batching/batcher.ts';
import { DeadlineError } from '../../src/platform/deadline.ts';
import { LeaseLostError } from '../../src/platform/periods/work-lease.ts';
import { UnsealError } from '../../src/platform/secrets.ts';
import { isTransientError } from '../../src/platform/transient-errors.ts';
import { testDeps } from '../support/test-deps.ts';

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('it went well');
    },
    (error: unknown) => error,
  );

it.each([
  [true, new LeaseLostError('x')],
  [true, new DeadlineError(5)],
  [true, new OverloadError('too many requests wait')],
  [true, Object.assign(new Error('LOADING Redis is loading the dataset in memory'), { name: 'ReplyError' })],
  [true, new Error('Too many Cluster redirections. Last error: Error: Connection is closed.')],
  [true, new Error('Connection is closed.')],
  [false, Object.assign(new Error('NOPERM no rights'), { name: 'ReplyError' })],
  [false, new UnsealError('x')],
  [false, new TypeError('x is not a function')],
  [false, 'a text'],
])('isTransientError is %s for %s', (passes, fault) => {
  expect(isTransientError(fault)).toBe(passes);
});

it('a permanent refusal of MongoDB is not transient', async () => {
  const { mongo } = await testDeps();
  const things = mongo.db.collection<{ _id: number }>('things');
  await things.insertOne({ _id: 1 });
  expect(isTransientError(await faultOf(things.insertOne({ _id: 1 })))).toBe(false);
  expect(isTransientError(await faultOf(things.bulkWrite([{ insertOne: { document: { _id: 1 } } }])))).toBe(
    false,
  );
});
