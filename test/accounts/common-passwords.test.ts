import { expect, test } from 'vitest';
import { isCommonPassword } from '../../src/accounts/common-passwords.ts';

test.each([
  '0123456789',
  '1234567890',
  'qwertyuiop',
  'Password123',
  'ADMINISTRATOR',
  'ｐａｓｓｗｏｒｄ１２３',
  'aaaaaaaaaaaa',
  'abcabcabcabc',
  '2026202620262',
])('%s is a common password', (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

test.each([
  'three ships in the bay',
  'kT8-wq02-Lm',
  'aaaaaaaaab',
  '# From Django',
])('%s is not a common password', (password) => {
  expect(isCommonPassword(password)).toBe(false);
});
