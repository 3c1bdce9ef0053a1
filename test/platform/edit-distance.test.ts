import { assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance } from '../../src/platform/edit-distance.ts';

/** The definition, letter by letter (optimal string alignment). */
function defined(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return defined(restA, restB);
  const swapped = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0];
  return (
    1 +
    Math.min(
      defined(restA, b),
      defined(a, restB),
      defined(restA, restB),
      swapped ? defined(a.slice(2), b.slice(2)) : Number.POSITIVE_INFINITY,
    )
  );
}

test.each([
  ['harbour', 'harbour', 0],
  ['harbour', 'harbor', 1],
  ['lights', 'lihgts', 1],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['kitten', 'sitting', 3],
])('from “%s” to “%s” it is %i', (a, b, distance) => expect(editDistance(a, b)).toBe(distance));

test('the distance matches its definition, after any earlier comparison and in both directions', () => {
  const few = string({ unit: constantFrom('a', 'b', 'c'), maxLength: 6 });
  const letters = property(few, few, (a, b) => {
    expect(editDistance(a, b)).toBe(defined(a, b));
    expect(editDistance(b, a)).toBe(defined(a, b));
  });
  assert(letters, { numRuns: 200 });
});

test('long texts have a distance too', () => {
  const long = 'lighthouse '.repeat(60);
  expect(editDistance(long, `${long}!`)).toBe(1);
  expect(editDistance('', long)).toBe(long.length);
});
