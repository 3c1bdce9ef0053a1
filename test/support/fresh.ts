import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, inject, onTestFinished } from 'vitest';

/** A database and a queue prefix that no other test file has, on the services that all share. */
export type FreshNames = { mongodbUri: string; redisUrl: string; queuePrefix: string };

/** Databases that no single test asked for. */
const shared: string[] = [];

// Registered when a test file imports this, so called after all else that the file closes.
afterAll(async () => {
  for (const uri of shared) await drop(uri);
});

/**
 * New names; call it once per test file, or once per test where tests would see each other. The database is dropped
 * when that test or file has ended: each collection that stays makes every new one slower, for the whole run.
 */
export function freshNames(): FreshNames {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const mongodbUri = `${inject('mongodbUri')}/${name}`;
  try {
    onTestFinished(() => drop(mongodbUri));
  } catch {
    shared.push(mongodbUri);
  }
  return { mongodbUri, redisUrl: inject('redisUrl'), queuePrefix: name };
}

async function drop(uri: string): Promise<void> {
  const client = new MongoClient(uri);
  try {
    await client.db().dropDatabase();
  } finally {
    await client.close();
  }
}
