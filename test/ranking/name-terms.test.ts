import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldName, LEAST_SIMILARITY, nameTerms, similarity } from '../../src/ranking/name-terms.ts';
import { anyText } from '../support/any-text.ts';
import { cpuMs } from '../support/cpu-time.ts';

const word = fc.string({
  unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789äéжл中文'),
  minLength: 4,
  maxLength: 9,
});
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));

/** A letter is left out, doubled, replaced by another, or swapped with the next. */
const mistake = fc.record({ at: fc.nat(), kind: fc.constantFrom('out', 'twice', 'other', 'swapped') });

function mistaken(text: string, { at, kind }: { at: number; kind: string }): string {
  const letters = [...text];
  const places = letters.flatMap((letter, i) => (letter === ' ' || letters[i + 1] === ' ' ? [] : [i]));
  const i = places[at % places.length] ?? 0;
  const [one = '', next = ''] = [letters[i], letters[i + 1]];
  if (kind === 'out') letters.splice(i, 1);
  if (kind === 'twice') letters.splice(i, 0, one);
  if (kind === 'other') letters[i] = one === 'q' ? 'w' : 'q';
  if (kind === 'swapped') letters.splice(i, 2, next, one);
  return letters.join('');
}

test('a name with any one mistake has a term of the whole name left, and is likely enough', () => {
  fc.assert(
    fc.property(name, mistake, (right, how) => {
      const typed = mistaken(right, how);
      const [a, b] = [foldName(right), foldName(typed)];
      const whole = new Set(nameTerms(a).filter((term) => /^[=#]/.test(term)));
      expect(
        nameTerms(b).some((term) => whole.has(term)),
        typed,
      ).toBe(true);
      expect(similarity(b, a), typed).toBeGreaterThanOrEqual(LEAST_SIMILARITY);
      expect(similarity(a, a)).toBe(1);
    }),
    { numRuns: 200 },
  );
});

test('a name is compared in bounded time, whatever is typed', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), anyText({ maxLength: 300 }), (a, b) => {
      const like = similarity(foldName(a), foldName(b));
      expect(like).toBeGreaterThanOrEqual(0);
      expect(like).toBeLessThanOrEqual(1);
    }),
  );
  const long = (letter: string) => foldName(`${letter}${'z'.repeat(98)}${letter}`);
  const spent = cpuMs(() => {
    // As many as a search compares.
    for (let i = 0; i < 500; i += 1) similarity(long('a'), long('b'));
  });
  expect(spent).toBeLessThan(5_000);
});
