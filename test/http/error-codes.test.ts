import { expect, test } from 'vitest';
import { codeOfStatus, ERROR_CODES, VOTE_FORM_CODES } from '../../src/http/error-codes.ts';
import published from './published-codes.json' with { type: 'json' };

// `npm run generate` adds new codes to the published ones, and neither changes nor removes one.
test('a code that was published never changes', () => {
  const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
  expect({ ...Object.fromEntries(statuses), ...VOTE_FORM_CODES }).toEqual(published);
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
