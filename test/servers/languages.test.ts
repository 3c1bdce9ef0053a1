import { expect, test } from 'vitest';
import { inLanguage } from '../../src/language/language.ts';
import { languageName, languageOf } from '../../src/servers/languages.ts';

test.each([
  ['de', 'de'],
  [' Deutsch ', 'de'],
  ['German', 'de'],
  ['GERMAN', 'de'],
  ['Norwegisch', 'no'],
  ['zh', 'zh'],
  ['tl', 'tl'],
  ['Tagalog', 'tl'],
  ['Filipino', 'tl'],
  ['tw', 'tw'],
  ['Twi', 'tw'],
  ['ak', 'ak'],
  ['Akan', 'ak'],
])('“%s” is the language %s', (text, code) => {
  expect(languageOf(text)).toBe(code);
});

test.each(['xx', 'iw', 'in', 'Klingon', ''])('“%s” is no language', (text) => {
  expect(languageOf(text)).toBeUndefined();
});

test('a code has a name in the language of the page', () => {
  const namesOf = (code: string) => [languageName(code), inLanguage('de', () => languageName(code))];
  expect(namesOf('fr')).toEqual(['French', 'Französisch']);
  expect(namesOf('tl')).toEqual(['Filipino', 'Filipino']);
  expect(namesOf('tw')).toEqual(['Twi', 'Twi']);
  expect(namesOf('xx')).toEqual(['xx', 'xx']);
});
