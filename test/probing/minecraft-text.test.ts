import { describe, expect, it } from 'vitest';
import { legacyText } from '../../src/probing/minecraft-text.ts';

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
    ['a number', 7, ''],
    ['null', null, ''],
  ])('%s becomes text with § codes', (_, description, text) => {
    expect(legacyText(description)).toBe(text);
  });
});
