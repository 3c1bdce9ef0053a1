import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainText, styledLines } from '../../src/probing/minecraft-text.ts';
import { motdPanel } from '../../src/site/shared/motd.ts';
import { anyText } from '../support/any-text.ts';

const shown = (motd: string) =>
  styledLines(motd).map((line) => line.map(({ text, colour, formats }) => [text, colour, ...formats]));

it('a colour resets the formats, r resets everything, and a style continues in the next line', () => {
  expect(shown('§aGreen §lbold§n both\nnext §bblue§r plain')).toEqual([
    [
      ['Green ', 'a'],
      ['bold', 'a', 'bold'],
      [' both', 'a', 'bold', 'underlined'],
    ],
    [
      ['next ', 'a', 'bold', 'underlined'],
      ['blue', 'b'],
      [' plain', ''],
    ],
  ]);
});

it('capital codes count, obfuscated text is shown unchanged, and unknown codes vanish', () => {
  expect(shown('§ASame§Kth§zing§G§9§h!§')).toEqual([
    [
      ['Same', 'a'],
      ['th', 'a', 'obfuscated'],
      ['ing', 'a', 'obfuscated'],
      ['!§', '9'],
    ],
  ]);
});

it.each([
  ['§zA§wroom', 'Aroom'],
  ['§gGold§P and§S more', 'Gold and more'],
  ['§h§i§jnothing else', 'nothing else'],
  ['1.8§7-§y1.21', '1.8-1.21'],
])('%s without its codes, known or not, is %s', (motd, text) => {
  expect(plainText(motd)).toBe(text);
});

it('six digits with a code each are the nearest of the sixteen colours', () => {
  expect(shown('§x§f§f§6§0§6§0red§x§F§E§F§E§F§Ewhite')).toEqual([
    [
      ['red', 'c'],
      ['white', 'f'],
    ],
  ]);
  expect(shown('§x§1cut')).toEqual([[['cut', '1']]]);
});

/** Arbitrary messages: codes, markup, line ends and any Unicode. */
const hostile = fc
  .array(
    fc.oneof(
      anyText({ maxLength: 6 }),
      fc.constantFrom(
        '§',
        '§a',
        '§L',
        '§x',
        '§x§1§2§3§4§5§6',
        '\n',
        '<b>',
        '"',
        "'",
        '&lt;',
        '</p>',
        '<!--',
        '$&',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

it('every letter of any message is kept, in its line', () => {
  fc.assert(
    fc.property(hostile, (motd) => {
      const text = styledLines(motd)
        .map((line) => line.map(({ text }) => text).join(''))
        .join('\n');
      // Of control characters only line feeds are text.
      const letters = motd.replace(/(?!\n)\p{Cc}/gu, '');
      expect(text).toBe(letters.replace(/§[0-9a-z]/gi, ''));
    }),
    { numRuns: 100 },
  );
});

it('a page shows any message as text with the site’s own classes, never as markup', () => {
  fc.assert(
    fc.property(hostile, (motd) => {
      const panel = String(motdPanel(motd));
      const rest = panel.replace(
        /<p class="motd" dir="auto">|<\/p>$|<br \/>|<span class="mc-[a-z0-9-]+( mc-[a-z]+)*">|<\/span>/g,
        '',
      );
      expect(rest).not.toMatch(/[<>"']/);
    }),
    { numRuns: 100 },
  );
});
