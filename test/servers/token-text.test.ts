import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashToken, kindOfText, makeApiToken, tokenPrefix } from '../../src/servers/token-text.ts';

const BASE62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];

function replaced(token: string, at: number, letter: string): string {
  return token.slice(0, at) + letter + token.slice(at + 1);
}

describe('a new token', () => {
  test('is tp_, 30 random base62 characters and a checksum of six', () => {
    expect(makeApiToken()).toMatch(/^tp_[0-9A-Za-z]{36}$/);
  });

  test('has another prefix as a claim key, so that no version takes a claim key for an API token', () => {
    const key = makeApiToken('claim');
    expect(key).toMatch(/^tpc_[0-9A-Za-z]{36}$/);
    expect([kindOfText(key), kindOfText(key.replace('tpc_', 'tp_'))]).toEqual(['claim', 'api']);
    expect(tokenPrefix(key)).toBe(key.slice(0, 10));
  });

  test('is unique among 10,000, has the right shape and uses all characters equally often', () => {
    const tokens = new Set(Array.from({ length: 10_000 }, () => makeApiToken()));
    expect(tokens.size).toBe(10_000);
    const counts = new Map<string, number>();
    for (const token of tokens) {
      if (kindOfText(token) !== 'api') expect.fail(`not of the right shape: ${token}`);
      for (const letter of token.slice(3, 33)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    // 300,000 characters: about 4,839 of each; 6 standard deviations are 414.
    expect([...counts.keys()].toSorted()).toEqual(BASE62);
    for (const count of counts.values()) expect(Math.abs(count - 300_000 / 62)).toBeLessThan(414);
  });

  test('has the CRC-32 of its random part as its checksum, in base62 with the high digit first', () => {
    const token = makeApiToken();
    let value = 0;
    for (const digit of token.slice(33)) value = value * 62 + BASE62.indexOf(digit);
    expect(value).toBe(crc32(token.slice(3, 33)));
  });
});

describe('a typing error is detected without a query', () => {
  test('any one character replaced', () => {
    const token = makeApiToken();
    for (let at = 0; at < token.length; at += 1) {
      for (const letter of [...BASE62, '_', '-', ' ', 'é']) {
        if (token[at] === letter) continue;
        if (kindOfText(replaced(token, at, letter))) expect.fail(`${at}: ${letter}`);
      }
    }
  });

  test('any one character missing, doubled or added', () => {
    const token = makeApiToken();
    for (let at = 0; at <= token.length; at += 1) {
      if (at < token.length) expect(kindOfText(token.slice(0, at) + token.slice(at + 1))).toBeNull();
      expect(kindOfText(`${token.slice(0, at)}x${token.slice(at)}`)).toBeNull();
    }
  });

  test('two neighbouring characters swapped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 37 }), (at) => {
        const token = makeApiToken();
        const swapped = replaced(replaced(token, at, token[at + 1] ?? ''), at + 1, token[at] ?? '');
        fc.pre(swapped !== token);
        expect(kindOfText(swapped)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  test('a space, a line feed or quotation marks around it, another case, or empty text', () => {
    const token = makeApiToken();
    for (const text of [
      ` ${token}`,
      `${token}\n`,
      `"${token}"`,
      `Bearer ${token}`,
      token.toUpperCase(),
      token.slice(3),
      '',
      'tp_',
    ]) {
      expect(kindOfText(text), JSON.stringify(text)).toBeNull();
    }
  });
});

test('a token is stored as its SHA-256; its owner sees the first nine characters', () => {
  const token = makeApiToken();
  expect(hashToken(token)).toBe(createHash('sha256').update(token, 'utf8').digest('hex'));
  expect(tokenPrefix(token)).toBe(token.slice(0, 9));
});
