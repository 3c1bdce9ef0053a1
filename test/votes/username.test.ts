import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usernameKey, usernameSchema } from '../../src/votes/username.ts';
import { anyCharacter } from '../support/any-text.ts';

/** What the schema makes of a name; undefined when it refuses it. */
function taken(name: unknown): string | undefined {
  return usernameSchema.safeParse(name).data;
}

/** The sentences with which the schema refuses a name. */
function refusals(name: unknown): string[] {
  return usernameSchema.safeParse(name).error?.issues.map(({ message }) => message) ?? [];
}

describe('a name', () => {
  test.for<[string, string, string]>([
    ['as it is', 'Steve', 'Steve'],
    ['trimmed', '  Steve \t', 'Steve'],
    ['trimmed of line feeds', '\n\r\nSteve\n', 'Steve'],
    ['trimmed of all kinds of space', '\u00a0\u2003\u3000Steve\u2028\u2029\ufeff', 'Steve'],
    ['with spaces inside', 'Steve  the Great', 'Steve  the Great'],
    ['with a leading dot, as Bedrock players have', '.Steve', '.Steve'],
    ['of one character', 'x', 'x'],
    ['of 50 characters', 'x'.repeat(50), 'x'.repeat(50)],
    ['of 50 characters and surrounding space', ` ${'x'.repeat(50)} `, 'x'.repeat(50)],
    ['of 50 astral characters, 100 UTF-16 units', '🧱'.repeat(50), '🧱'.repeat(50)],
    ['with a joined emoji', '👩‍🚀', '👩‍🚀'],
    ['with zero-width characters, as typed', 'St\u200beve', 'St\u200beve'],
    ['with a line separator inside, which is no control character', 'a\u2028b', 'a\u2028b'],
    ['that looks like an operator', '$ne', '$ne'],
  ])('is taken %s', ([, typed, stored]) => {
    expect(taken(typed)).toBe(stored);
  });

  test.for<[string, unknown, RegExp]>([
    ['that is missing', undefined, /required/],
    ['that is no text', 42, /string/],
    ['that is an object of operators', { $ne: '' }, /string/],
    ['that is empty', '', /empty/],
    ['of white space alone', ' \t\n\u3000', /empty/],
    ['of 51 characters', 'x'.repeat(51), /at most 50/],
    ['of 51 astral characters', '🧱'.repeat(51), /at most 50/],
    ['of 51 characters, one of them zero-width', `${'x'.repeat(50)}\u200b`, /at most 50/],
    ['with a NUL', 'a\0b', /control/],
    ['that is a NUL', '\0', /control/],
    ['with a tab inside', 'a\tb', /control/],
    ['with a line feed inside', 'a\nb', /control/],
    ['with a carriage return inside', 'a\rb', /control/],
    ['with a next-line character (NEL), even at its end', 'a\u0085', /control/],
    ['with a delete character', 'a\u007f', /control/],
    ['with a C1 control character', 'a\u009fb', /control/],
    ['of zero-width characters alone', '\u200b\u200d\u2060', /visible/],
    ['of variation selectors alone', '\ufe0f\u{e0100}', /visible/],
    ['of soft hyphens alone', '\u00ad\u00ad', /visible/],
    ['of Hangul fillers alone', '\u3164\uffa0\u115f\u1160', /visible/],
    ['of invisible characters and spaces', '\u200b \u3164', /visible/],
    ['with an unpaired high surrogate', 'a\ud83d', /surrogate/],
    ['with an unpaired low surrogate', '\ude00a', /surrogate/],
    ['with a surrogate pair the wrong way round', '\ude00\ud83d', /surrogate/],
  ])('is refused %s', ([, typed, sentence]) => {
    expect(refusals(typed)).toEqual([expect.stringMatching(sentence)]);
  });
});

describe('two spellings', () => {
  test.for<[string, string, string]>([
    ['in another case', 'Steve', 'sTEVE'],
    ['in full width', 'Steve', 'Ｓｔｅｖｅ'],
    ['with a ligature', 'ﬁﬂﬃ', 'FIFLFFI'],
    ['in mathematical letters', 'Steve', '𝕾𝖙𝖊𝖛𝖊'],
    ['with circled digits', 'Player①', 'player1'],
    ['with a composed and a combining accent', 'José', 'Jose\u0301'],
    ['with ß and SS', 'straße', 'STRASSE'],
    ['with ß and its capital', 'straße', 'STRAẞE'],
    ['with the capital ß and ss', 'STRAẞE', 'strasse'],
    ['with a final and another small sigma', 'Ὀδυσσεύς', 'ὈΔΥΣΣΕΎΣ'],
    ['with the wrong small sigma at the end', 'νικοσ', 'νικος'],
    ['with a sigma before an invisible letter', 'ΑΣ\u3164Α', 'ασα'],
    ['with ᾳ and αι', 'ᾳ', 'ΑΙ'],
    ['with the Kelvin sign', 'Kelvin', 'kelvin'],
    ['with the long s', 'Miſter', 'MISTER'],
    ['with the Turkish dotted İ and its small form of two characters', 'İstanbul', 'i\u0307stanbul'],
    ['with the Turkish dotless ı', 'ısı', 'ISI'],
    ['with a Cherokee letter of either case', 'Ꭰ', 'ꭰ'],
    ['with a zero-width space', 'Steve', 'St\u200beve'],
    ['with a joiner and a byte order mark', 'Steve', 'St\u200de\ufeffve'],
    ['with a variation selector', '❤', '❤\ufe0f'],
    ['with a soft hyphen', 'Steve', 'Ste\u00adve'],
    ['with a Hangul filler', 'Steve', 'Ste\u3164ve'],
    ['with a tag character and a direction mark', 'Steve', 'Steve\u{e0061}\u200f\u202e'],
    ['with other spaces', 'Steve the Great', 'Steve\u00a0the\u3000Great'],
    ['with more spaces', 'Steve the Great', 'Steve  the \u2003 Great'],
    ['with invisible characters between spaces', 'a b', 'a \u200b b'],
    ['with a line separator for a space', 'a b', 'a\u2028b'],
    ['with invisible characters around', 'Steve', '\u2060 Steve \u2060'],
    ['of a joined emoji and its parts', '👩‍🚀', '👩🚀'],
  ])('%s are the same player', ([, one, other]) => {
    expect(usernameKey(one)).toBe(usernameKey(other));
  });

  test.for<[string, string, string]>([
    ['with another letter', 'Steve', 'Steven'],
    ['with and without an accent', 'Jose', 'José'],
    ['with and without a space', 'Steve', 'St eve'],
    ['of look-alikes in other scripts', 'Steve', 'Ѕteve'],
    ['with a dotted İ and a plain i', 'İ', 'i'],
    ['with a dot before them', 'Steve', '.Steve'],
    ['with other digits', 'Player1', 'Player2'],
    ['of emoji with and without a skin tone', '👍', '👍🏽'],
  ])('%s are two players', ([, one, other]) => {
    expect(usernameKey(one)).not.toBe(usernameKey(other));
  });
});

/** Letters that case, width, ligatures, marks, invisible characters and spaces make hard, and any others. */
const letters = fc.oneof(
  fc.constantFrom(...'aAıİiIßẞsSſςσΣᾳΐǰŉﬁﬃＡａKÅΩ①½…\u0301\u0307\u0345\u200b\u200d\ufe0f\u00ad\u3164\u115f'),
  fc.constantFrom(' ', '\u00a0', '\u3000', '\u2028', '\t', '\u0085', '\ufeff', '\u180e', '\u{e0100}'),
  anyCharacter,
);
const names = fc.string({ unit: letters, maxLength: 12 });

/** The contract's steps, one character after the other: NFKC, full case folding, invisible ones out, spaces. */
function keyStepByStep(name: string): string {
  const folded = [...name.normalize('NFKC')].flatMap((letter) =>
    // Alone, a letter has no neighbours: sigma has one small form. ẞ is a capital whose capital is itself.
    [...letter.replace('ẞ', 'ß').toUpperCase()].map((upper) => upper.toLowerCase()),
  );
  const words: string[] = [''];
  for (const letter of folded.join('')) {
    if (/^\p{Default_Ignorable_Code_Point}$/u.test(letter)) continue;
    if (/^[\p{White_Space}]$/u.test(letter)) words.push('');
    else words.push(`${words.pop() ?? ''}${letter}`);
  }
  return words.filter((word) => word !== '').join(' ');
}

describe('of any names', () => {
  test('the key is what the contract’s steps make of them, one by one', () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(usernameKey(name)).toBe(keyStepByStep(name));
      }),
      { numRuns: 100 },
    );
  });

  test('the key of every single character is what the contract’s steps make of it', () => {
    const different: string[] = [];
    // The unassigned, most of them the same, are left to chance.
    const telling = /^[\P{Cn}\p{Default_Ignorable_Code_Point}]$/u;
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const letter = String.fromCodePoint(code);
      if (!letter.isWellFormed() || !telling.test(letter)) continue;
      if (usernameKey(letter) !== keyStepByStep(letter)) different.push(code.toString(16));
    }
    expect(different).toEqual([]);
  });

  test('case and surrounding space never make another player', () => {
    const cased = fc.constantFrom(...'aAıİiIßẞsSſςσΣﬁＡéÉяЯΩαǅᎠ \u200b\u3164');
    fc.assert(
      fc.property(fc.string({ unit: cased, maxLength: 12 }), (name) => {
        const key = usernameKey(name);
        expect(usernameKey(` ${name}\u3000`)).toBe(key);
        expect(usernameKey(name.toLowerCase())).toBe(key);
        expect(usernameKey(name.toUpperCase())).toBe(key);
      }),
      { numRuns: 100 },
    );
  });

  test('the key of a Latin name is its own key', () => {
    const latin = fc.string({ unit: fc.constantFrom(...'aZ0_ßẞéÜſﬁ \u200b\u00ad'), maxLength: 12 });
    fc.assert(
      fc.property(latin, (name) => {
        expect(usernameKey(usernameKey(name))).toBe(usernameKey(name));
      }),
    );
  });

  test('what the schema takes it takes again as it is, with a key, in 50 code points, without control characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 60 }), (typed) => {
        const name = taken(typed);
        if (name === undefined) return;
        expect(taken(name)).toBe(name);
        expect(name).toBe(typed.trim());
        expect([...name].length).toBeLessThanOrEqual(50);
        expect([...name].filter((letter) => letter < ' ' || (letter >= '\x7f' && letter <= '\x9f'))).toEqual(
          [],
        );
        expect(usernameKey(name)).not.toBe('');
      }),
      { numRuns: 100 },
    );
  });
});
