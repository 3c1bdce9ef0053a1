import { expect, it } from 'vitest';
import { csv } from '../../src/site/shared/csv.ts';

it.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['a,"b"', '"a,""b"""'],
  ['=a,b', '"\'=a,b"'],
  ['two\nlines', '"two\nlines"'],
  ['', ''],
])('%j stands in a file as %j', (value, expected) => {
  expect(csv(['x'], [[value]])).toBe(`x\r\n${expected}\r\n`);
});

it('numbers stay numbers, and unknown values are empty', () => {
  expect(csv(['a', 'b'], [[-1.5, null]])).toBe('a,b\r\n-1.5,\r\n');
});
