import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '../../src/accounts/password.ts';
import { CHEAP_PASSWORDS } from '../support/web-app.ts';

const { hash } = CHEAP_PASSWORDS;

test('a new hash has the cost that OWASP recommends, and the password matches it', async () => {
  const stored = await hashPassword('three ships in the bay');
  expect(stored).toMatch(/^scrypt\$32768\$8\$3\$/);
  expect(await verifyPassword('three ships in the bay', stored)).toBe(true);
});

test('only the right password matches its hash', async () => {
  const stored = await hash('three ships in the bay');
  expect(await verifyPassword('three ships in the bay', stored)).toBe(true);
  expect(await verifyPassword('three ships in the bay ', stored)).toBe(false);
  expect(await verifyPassword('', stored)).toBe(false);
});

test('the same password has a different hash each time', async () => {
  const [first, second] = await Promise.all([hash('a'), hash('a')]);
  expect(first).not.toBe(second);
});

test('an accent typed as one character or as two is the same password', async () => {
  expect(await verifyPassword('cafe\u0301', await hash('caf\u00e9'))).toBe(true);
});

test('verifying against a cut-off hash throws an error', async () => {
  const stored = await hash('a');
  await expect(verifyPassword('a', stored.slice(0, -20))).rejects.toThrow('not whole');
  await expect(verifyPassword('b', 'scrypt$32768$8$3$AAAA$A')).rejects.toThrow('not whole');
});
