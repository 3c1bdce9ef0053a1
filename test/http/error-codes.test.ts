import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeOfStatus, codesOf, ERROR_CODES } from '../../src/http/error-codes.ts';

test('docs/errors.md has every code with its status and meaning', () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
  );
  const documented = readFileSync('docs/errors.md', 'utf8').split('\n');
  expect(documented.filter((line) => /^\| \d/.test(line))).toEqual(rows);
});

// A code never changes: remove none from this list, and only add to it.
test('the published codes are still there', () => {
  const published = {
    400: ['malformed'],
    401: ['unauthorized'],
    403: ['forbidden'],
    404: ['not-found'],
    405: ['method-not-allowed'],
    408: ['request-timeout'],
    409: ['conflict', 'claims-off'],
    413: ['too-large'],
    415: ['unsupported-media-type'],
    417: ['expectation-failed'],
    422: ['idempotency-key-reused', 'fetch-not-set'],
    429: ['cooldown', 'too-early', 'too-many-requests'],
    431: ['headers-too-large'],
    500: ['internal'],
    503: [
      'unavailable',
      'overloaded',
      'stopping',
      'clock-wrong',
      'database-unavailable',
      'database-not-ready',
      'queues-unavailable',
      'result-unknown',
    ],
  };
  for (const [status, codes] of Object.entries(published))
    expect(codesOf(Number(status))).toEqual(expect.arrayContaining(codes));
});

test.each([
  [400, 'malformed'],
  [429, 'too-many-requests'],
  [503, 'unavailable'],
  [418, 'malformed'],
  [502, 'internal'],
])('an error of which only the status %i is known has the code %s', (status, code) => {
  expect(codeOfStatus(status)).toBe(code);
});
