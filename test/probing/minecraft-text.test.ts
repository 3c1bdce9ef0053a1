import { describe, expect, it } from 'vitest';
import { legacyText } from '../../src/probing/minecraft-text.ts';
import { cpuMs } from '../support/cpu-time.ts';

/** `count` parts, each in the `extra` of the one before. */
function chain(count: number): object {
  return { text: 'A', ...(count > 1 ? { extra: [chain(count - 1)] } : {}) };
}

/** A translation whose parts are both its own inner translation, `depth` times. */
function doubling(depth: number): object {
  const inner = depth === 0 ? 'A' : doubling(depth - 1);
  return { translate: '%1$s%1$s', with: [inner] };
}

describe('A Minecraft description', () => {
  it.each([
    ['text', '§aHello\nthere', '§aHello\nthere'],
    ['an object', { text: 'Hello' }, 'Hello'],
    ['a coloured object', { text: 'Hello', color: 'red', bold: true }, '§c§lHello'],
    ['parts that inherit', { text: 'A', color: 'gold', extra: [{ text: 'B', bold: true }] }, '§6A§lB'],
    ['formats that end', { text: '', extra: [{ text: 'A', bold: true }, { text: 'B' }] }, '§lA§rB'],
    [
      'a colour that ends formats',
      ['', { text: 'A', italic: true, color: 'aqua' }, { text: 'B', color: 'blue' }],
      '§b§oA§9B',
    ],
    [
      'a format switched off',
      { text: 'A', bold: true, color: 'green', extra: [{ text: 'B', bold: false }] },
      '§a§lA§aB',
    ],
    ['a colour of its own', { text: 'A', color: '#FE5650' }, '§cA'],
    ['an unknown colour', { text: 'A', color: 'beige' }, 'A'],
    ['a list of texts', ['A', 'B', { text: 'C' }], 'ABC'],
    ['a translated text', { translate: 'multiplayer.status.ping' }, 'multiplayer.status.ping'],
    ['nothing', undefined, ''],
    ['a number', 7, '7'],
    [
      'numbers and truth values as parts',
      ['Day ', 7, ' of ', { text: 3.5 }, { text: false }],
      'Day 7 of 3.5false',
    ],
    ['a part without text', [{ color: 'red' }, { text: null }, {}, [], 'A'], '§cA'],
    [
      'a list whose first part is the parent',
      [{ text: 'A', color: 'red', bold: true }, 'B', { text: 'C', bold: false }],
      '§c§lAB§cC',
    ],
    ['a list in a list', [[{ text: 'A', color: 'gold' }, 'B'], 'C'], '§6ABC'],
    [
      '`extra`, whose parts do not inherit from each other',
      { text: '', extra: [{ text: 'A', color: 'red' }, 'B'] },
      '§cA§rB',
    ],
    ['`extra` that is no list', { text: 'A', extra: { text: 'B', color: 'red' } }, 'A§cB'],
    ['a chain of parts', chain(40), 'A'.repeat(40)],
    ['a translation with a fallback', { translate: 'my.pack.motd', fallback: 'Welcome' }, 'Welcome'],
    ['an empty fallback', { translate: 'my.pack.motd', fallback: '' }, ''],
    [
      'a fallback with parts',
      { translate: 'a', fallback: '%s of %s (100 %%)', with: [7, { text: 'A', color: 'red' }] },
      '7 of §cA§r (100 %)',
    ],
    [
      'a fallback with numbered parts',
      { translate: 'a', fallback: '%2$s %1$s %s', with: ['A', 'B'] },
      'B A A',
    ],
    ['a key with parts', { translate: '%s joined', with: ['Ann'], color: 'red' }, '§cAnn joined'],
    [
      'a fallback for which parts are missing',
      { translate: 'a', fallback: '%s of %s', with: ['A'] },
      '%s of %s',
    ],
    ['a fallback with another mark', { translate: 'a', fallback: '%d %s', with: ['A'] }, '%d %s'],
    [
      'a part that is translated too',
      { translate: 'a', fallback: '<%s>', with: [{ translate: 'b', fallback: '[%s]', with: [1] }] },
      '<[1]>',
    ],
    ['null', null, ''],
  ])('%s becomes text with § codes', (_, description, text) => {
    expect(legacyText(description)).toBe(text);
  });

  it.each([
    ['a translation that doubles 60 times', doubling(60)],
    ['a translation with nothing that doubles 60 times', { ...doubling(60), with: [doubling(60), []] }],
    ['a pattern with very many marks', { translate: '%1$s'.repeat(100_000), with: [[]] }],
    ['very many parts', Array.from({ length: 200_000 }, () => ({ text: 'A', color: 'red' }))],
    ['a very long text', { text: 'x'.repeat(1_000_000), extra: Array(1_000).fill('y') }],
    ['a nest of lists', JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)],
  ])('%s ends soon, with a bounded text', (_, description) => {
    let text = '';
    expect(cpuMs(() => (text = legacyText(description)))).toBeLessThan(200);
    expect(text.length).toBeLessThanOrEqual(8_000);
  });
});
