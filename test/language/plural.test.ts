import { expect, test } from 'vitest';
import { capitalized, inLanguage, type Language } from '../../src/language/language.ts';
import { counted, percent, unit } from '../../src/site/shared/format.ts';

const votes = (language: Language, numbers: number[]) =>
  inLanguage(language, () => numbers.map((n) => counted(n, 'vote')));

test('a noun has the forms of its language', () => {
  expect(votes('en', [0, 1, 2, 21])).toEqual(['0 votes', '1 vote', '2 votes', '21 votes']);
  expect(votes('de', [0, 1, 2])).toEqual(['0 Stimmen', '1 Stimme', '2 Stimmen']);
});

test('the unit is the text beside the number', () => {
  expect([1, 1_234].map((n) => unit(n, 'vote'))).toEqual(['vote', 'votes']);
  expect(inLanguage('de', () => unit(1_234, 'server'))).toBe('Server');
});

test('a capital letter is that of the language', () => {
  expect(capitalized('iki oy')).toBe('Iki oy');
  expect(inLanguage('tr', () => capitalized('iki oy'))).toBe('İki oy');
});

test('a percentage is written as in its language', () => {
  const shown = ['en', 'pl', 'tr'].map((language) => inLanguage(language, () => percent(0.994)));
  expect(shown).toEqual(['99.4 %', '99,4%', '%99,4']);
});
