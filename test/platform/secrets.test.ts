import { expect, test } from 'vitest';
import { createSecretBox, UnsealError } from '../../src/platform/secrets.ts';

const KEY = 'k3y-for-tests-0123456789-abcdefghij';

test('a sealed secret is opened only with the context of its sealing', () => {
  const box = createSecretBox(KEY);
  const sealed = box.seal('a token', 'listener 1');
  expect(box.open(sealed, 'listener 1')).toBe('a token');
  expect(() => box.open(sealed, 'listener 2')).toThrow(UnsealError);
});

test.each([0, 4, 8, 12, 13, 14, 15])('a tag cut to %i bytes is refused: it could be guessed', (bytes) => {
  const box = createSecretBox(KEY);
  const parts = box.seal('a token', 'listener 1').split('.');
  const tag = Buffer.from(parts.at(-1) ?? '', 'base64url').subarray(0, bytes);
  const cut = [...parts.slice(0, -1), tag.toString('base64url')].join('.');
  expect(() => box.open(cut, 'listener 1')).toThrow(UnsealError);
});
