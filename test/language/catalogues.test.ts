import { describe, expect, test } from 'vitest';
import { faultOf, reportOf } from '../../src/language/check-texts.ts';
import { SHIPPED_LANGUAGES } from '../../src/language/language.ts';
import { SAME_AS_ENGLISH } from './same-as-english.ts';

describe.each(SHIPPED_LANGUAGES)('%s', (language) => {
  const { missing, unused, suspicious } = reportOf(language);

  test('has every text of the code and no other', () => {
    expect.soft(missing).toEqual([]);
    expect.soft(unused).toEqual([]);
  });

  test('has texts that can be shown, with its plurals, and none that was left in English', () => {
    const known = SAME_AS_ENGLISH[language] ?? [];
    const isFine = ({ source, reason }: (typeof suspicious)[number]) =>
      reason.startsWith('much longer') || (reason === 'same as English' && known.includes(source));
    expect(suspicious.filter((one) => !isFine(one))).toEqual([]);
  });

  test('has no exception that is not one', () => {
    const same = suspicious.flatMap(({ source, reason }) => (reason === 'same as English' ? source : []));
    expect((SAME_AS_ENGLISH[language] ?? []).filter((source) => !same.includes(source))).toEqual([]);
  });
});

const VOTES = '{n, plural, one {# vote} other {# votes}}';

test.each([
  ['de', 'Sign in', 'Anmelden', null],
  ['de', 'Page {page}', 'Seite', 'it lacks the value page'],
  ['de', '<a>Sign in</a>', 'Anmelden', 'it lacks the element a'],
  ['de', 'Page {page}', 'Seite {page} {of}', 'the English text has no value of'],
  ['pl', VOTES, '{n, plural, one {# głos} few {# głosy} many {# głosów} other {# głosu}}', null],
  ['pl', VOTES, '{n, plural, one {# głos} other {# głosów}}', 'a plural has the category “many” missing'],
  [
    'tr',
    VOTES,
    '{n, plural, one {# oy} few {# oy} other {# oy}}',
    'a plural has the category “few” too many',
  ],
  ['de', 'Page {page}', '{page, plural, one {eine} other {#}}', 'the English text has no plural of page'],
  ['de', 'Page {page}', 'Seite {page', expect.stringMatching(/^it is no ICU MessageFormat/)],
  ['de', 'Page {page}', 'Seite {page, date}', 'it lacks the value page'],
  ['de', 'Page {page}', 'Seite <page>1</page>', 'it lacks the value page'],
  ['de', '<a>Sign in</a>', '{a}', 'it lacks the element a'],
  ['fr', 'It’s {name}', "C'{name}'", 'it lacks the value name'],
])('%s: “%s” as “%s”: %s', (language, source, text, fault) => {
  expect(faultOf(language, source, text)).toEqual(fault);
});
