import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, readable } from '../../src/platform/printable.ts';

describe('printable', () => {
  it.each([
    ['Okay\r\n', 'Okay'],
    ['two\r\n\r\nlines\tand a tab', 'two lines and a tab'],
    ['\u001b[31mred\u0007', '�[31mred�'],
    ['right\u202eot-left\u2066', 'right�ot-left�'],
    ['zero\u200bwidth', 'zero�width'],
    ['half \ud83d', 'half �'],
    ['Zoë 🎉 ключ', 'Zoë 🎉 ключ'],
    ['', ''],
  ])('shows %j as %j', (said, shown) => {
    expect(printable(said)).toBe(shown);
  });

  it('reads bytes as UTF-8 and replaces those that are not', () => {
    expect(printable(Buffer.from('Zoë'))).toBe('Zoë');
    expect(printable(Uint8Array.of(0x41, 0xff, 0x42))).toBe('A\u{fffd}B');
  });

  it('keeps at most 200 characters, and never cuts one in two', () => {
    expect(printable('🎉'.repeat(300))).toBe('🎉'.repeat(200));
  });

  it('removes everything dangerous from any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const shown = printable(bytes);
        expect([...shown].length).toBeLessThanOrEqual(200);
        expect(shown).not.toMatch(/\p{C}|[\r\n\u2028\u2029]/u);
      }),
    );
  });
});

describe('readable', () => {
  it.each([
    ['text', Buffer.from('Zoë said\r\nhello\n'), 'Zoë said hello'],
    [
      'text between other bytes',
      Buffer.from('J\0\0\0\n8.0.36\0\u0001\u0002\u0003native_password\0'),
      '8.0.36 … native_password',
    ],
    ['text after one byte that is none', Uint8Array.of(0xff, 0x4f, 0x6b, 0x61, 0x79), 'Okay'],
    ['a TLS alert', Uint8Array.of(0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46), '(7 bytes that are not text)'],
    ['nothing', Uint8Array.of(), ''],
  ])('shows the readable part of %s', (_what, bytes, shown) => {
    expect(readable(bytes)).toBe(shown);
  });

  it('removes everything dangerous from any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const shown = readable(bytes);
        expect([...shown].length).toBeLessThanOrEqual(200);
        expect(shown).not.toMatch(/\p{C}|\u{fffd}|[\r\n\u2028\u2029]/u);
      }),
    );
  });
});
