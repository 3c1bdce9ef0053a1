import { afterEach, expect, test } from 'vitest';
import { inLanguage, LOCALES } from '../../src/language/language.ts';
import { counted } from '../../src/site/shared/format.ts';

const { de } = LOCALES;
afterEach(() => {
  LOCALES.de = de;
});

const german = (votes: number) => inLanguage('de', () => counted(votes, 'vote'));

test('English and German have the singular for one only', () => {
  expect([0, 1, 2, 21].map((votes) => counted(votes, 'vote'))).toEqual([
    '0 votes',
    '1 vote',
    '2 votes',
    '21 votes',
  ]);
  expect([0, 1, 2].map(german)).toEqual(['0 Stimmen', '1 Stimme', '2 Stimmen']);
});

test('a language that has the singular for zero too needs only its locale', () => {
  LOCALES.de = 'fr-FR';
  expect([0, 1, 2].map(german)).toEqual(['0 Stimme', '1 Stimme', '2 Stimmen']);
});
