import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';

/** A database and a queue prefix that no other test file has, on the services that all share. */
export type FreshNames = { mongodbUri: string; redisUrl: string; queuePrefix: string };

/** New names; call it once per test file, or once per test where tests would see each other. */
export function freshNames(): FreshNames {
  const name = `test_${randomBytes(6).toString('hex')}`;
  return { mongodbUri: `${inject('mongodbUri')}/${name}`, redisUrl: inject('redisUrl'), queuePrefix: name };
}
