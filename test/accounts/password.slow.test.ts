import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '../../src/accounts/password.ts';

test('only the right password matches its hash', async () => {
  const stored = await hashPassword('three ships in the bay');
  expect(await verifyPassword('three ships in the bay', stored)).toBe(true);
  expect(await verifyPassword('three ships in the bay ', stored)).toBe(false);
  expect(await verifyPassword('', stored)).toBe(false);
});

test('the same password has a different hash each time', async () => {
  const [first, second] = await Promise.all([hashPassword('a'), hashPassword('a')]);
  expect(first).not.toBe(second);
});

test('an accent typed as one character or as two is the same password', async () => {
  expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
});

test('verifying against a cut-off hash throws an error', async () => {
  const stored = await hashPassword('a');
  await expect(verifyPassword('a', stored.slice(0, -20))).rejects.toThrow('not whole');
  await expect(verifyPassword('b', 'scrypt$32768$8$3$AAAA$A')).rejects.toThrow('not whole');
});
