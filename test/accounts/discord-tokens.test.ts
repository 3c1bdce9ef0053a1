import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { testDeps } from '../support/test-deps.ts';

test('the migration deletes Discord tokens that an older version stored and keeps passwords', async () => {
  const { credentials, mongo } = await testDeps();
  const userId = new ObjectId();
  const tokens = {
    accessToken: 'granted',
    refreshToken: 'granted anew',
    idToken: null,
    scope: 'identify,email',
  };
  const discord = {
    _id: new ObjectId(),
    userId,
    providerId: 'discord',
    accountId: '80351110224678912',
    ...tokens,
  };
  const password = {
    _id: new ObjectId(),
    userId,
    providerId: 'credential',
    accountId: 'x',
    password: 'scrypt$1',
  };
  await credentials.insertMany([discord, password]);
  await migrateDatabase(mongo);
  await migrateDatabase(mongo);
  expect(await credentials.find().sort({ providerId: 1 }).toArray()).toEqual([
    password,
    { ...discord, accessToken: null, refreshToken: null },
  ]);
});
