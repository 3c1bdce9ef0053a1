import { expect, it } from 'vitest';
import { inLanguage } from '../../src/language/language.ts';
import { csv } from '../../src/site/shared/csv.ts';

it.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['a,"b"', '"a,""b"""'],
  ['a;b', '"a;b"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1', "'＝1"],
  ['=a,b', '"\'=a,b"'],
  ['two\nlines', '"two\nlines"'],
  ['', ''],
])('%j stands in a file as %j', (value, expected) => {
  expect(csv(['x'], [[value]])).toBe(`\ufeffx\r\n${expected}\r\n`);
});

it('numbers stay numbers, and unknown values are empty', () => {
  expect(csv(['a', 'b'], [[-1.5, null]])).toBe('\ufeffa,b\r\n-1.5,\r\n');
});

it('a German spreadsheet separates cells by semicolons, and decimals by commas', () => {
  const file = inLanguage('de', () => csv(['a', 'b', 'c'], [[-1.5, null, 'x']]));
  expect(file).toBe('\ufeffa;b;c\r\n-1,5;;x\r\n');
});
