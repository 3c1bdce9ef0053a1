import { expect, test } from 'vitest';
import { createSecretBox } from '../../src/platform/secrets.ts';
import { openPushKey, readPushKey } from '../../src/reminders/read-push-key.ts';
import { testDeps } from '../support/test-deps.ts';

test('of several processes that find no key, one makes it and all use it', async () => {
  const deps = await testDeps();
  const keys = await Promise.all(Array.from({ length: 8 }, () => readPushKey(deps)));
  expect(new Set(keys).size).toBe(1);
  expect(await deps.pushKeys.countDocuments()).toBe(1);
  const { publicKey, privateKey } = await openPushKey(deps);
  expect([publicKey, privateKey].map((key) => Buffer.from(key, 'base64url').length)).toEqual([65, 32]);
  expect(JSON.stringify(await deps.pushKeys.findOne({}))).not.toContain(privateKey);
});

test('a key that was sealed under another SECRET_KEY is not opened, and after it was deleted there is a new one', async () => {
  const deps = await testDeps();
  const earlier = await readPushKey({
    ...deps,
    secrets: createSecretBox('another key of thirty-two characters'),
  });
  await expect(openPushKey(deps)).rejects.toThrow('another SECRET_KEY');
  await deps.pushKeys.deleteMany({});
  expect((await openPushKey(deps)).publicKey).not.toBe(earlier);
});
