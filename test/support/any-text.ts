import * as fc from 'fast-check';

/** The code points without surrogates. */
const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));
const ascii = fc.integer({ min: 0, max: 0x7f }).map((number) => String.fromCodePoint(number));

/** One character. Half of them are ASCII. */
export const anyCharacter = fc.oneof(ascii, codePoint);

/**
 * Text of any characters. fast-check's own `unit: 'binary'` is not used, because it takes seconds to prepare in each
 * test file.
 */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, ...constraints });
}
