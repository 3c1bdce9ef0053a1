import { expect, it, onTestFinished } from 'vitest';
import { bindCollections, type Collections } from '../../src/database/collections.ts';
import type { Mail } from '../../src/mail/mail.ts';
import { checked, InvalidDocumentError } from '../../src/platform/document.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { unmigratedNames } from '../support/databases.ts';
import { testDeps } from '../support/test-deps.ts';

it('the compiler refuses wrong types and unknown fields', () => {
  const wrongUses = ({ votes, migrations }: Collections, vote: Vote) => [
    votes.findOne({ seq: { $gt: 1 } }),
    // @ts-expect-error: `seq` is a number.
    votes.findOne({ seq: '1' }),
    // @ts-expect-error: there is no such field.
    votes.insertOne({ ...vote, usernmae: 'Steve' }),
    // @ts-expect-error: `appliedAt` is a date.
    migrations.updateOne({ _id: '0001' }, { $set: { appliedAt: 'today' } }),
  ];
  expect(wrongUses).toBeTypeOf('function');
});

it('hands out the collections of the models, one object for each on a connection', async () => {
  const { mongo, votes } = await testDeps();
  expect(votes).toBe(mongo.connection.model('Vote').collection);
  expect(bindCollections(mongo).votes).toBe(votes);
  expect(votes.collectionName).toBe('votes');
});

it('a test fails that filters by a field that does not exist', async () => {
  const { votes, voteCounters } = await testDeps();
  const misspelt = async () => votes.findOne({ usernmaeKey: 'steve' });
  await expect(misspelt()).rejects.toThrow('findOne of votes: there is no field “usernmaeKey”');
  const nested = async () => votes.updateOne({ $or: [{ 'delivery.sate': 'none' }] }, { $set: { seq: 1 } });
  await expect(nested()).rejects.toThrow('“delivery.sate”');
  await votes.findOne({
    'delivery.attempts.code': 'reset',
    'delivery.codes.reset': 1,
    'delivery.older.lastAt': null,
  });
  await voteCounters.findOne({ 'days.01': { $gt: 1 } });
});

it('makes no collection and no index by itself', async () => {
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
  const mongo = await openMongo(unmigratedNames().mongodbUri, log);
  onTestFinished(() => mongo.close());
  await bindCollections(mongo).votes.findOne({});
  expect(await mongo.db.listCollections().toArray()).toEqual([]);
});

it('validates with the model and leaves the document as it is', async () => {
  const { mails, mongo } = await testDeps();
  const at = new Date();
  const mail = { _id: 'mail', to: 'a@example.org', subject: 'x', sealedText: 'x', createdAt: at, nextAt: at };
  const complete: Mail = { ...mail, attempts: 0 };
  expect(await checked(mails, complete)).toBe(complete);
  expect(Object.keys(complete)).toEqual([...Object.keys(mail), 'attempts']);
  const wrong = await checked(mails, mail as Mail).catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(InvalidDocumentError);
  expect((wrong as InvalidDocumentError).errors).toEqual({ attempts: expect.stringContaining('required') });
  await expect(checked(mongo.db.collection('mails'), mail)).rejects.toThrow(TypeError);
});
