import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGreetingStart, readGreeting } from '../../src/delivery/votifier/votifier-greeting.ts';
import { anyText } from '../support/any-text.ts';

const read = (text: string) => readGreeting(Buffer.from(text));

describe('readGreeting', () => {
  it.each([
    ['VOTIFIER 2 3gk5lqv0r8u1n7\n', '3gk5lqv0r8u1n7'],
    ['VOTIFIER 2 3gk5lqv0r8u1n7\r\n', '3gk5lqv0r8u1n7'],
    ['VOTIFIER 2 q83vEjRWeJC+/w==\n', 'q83vEjRWeJC+/w=='],
    ['VOTIFIER 2 abc\n', 'abc'],
    ['VOTIFIER 2  abc \n', 'abc'],
    ['VOTIFIER 2 opaque as it is\n', 'opaque as it is'],
    ['VOTIFIER 2.0 3gk5lqv0r8u1n7\n', '3gk5lqv0r8u1n7'],
    ['VOTIFIER 2.3.4 3gk5lqv0r8u1n7\r\n', '3gk5lqv0r8u1n7'],
  ])('reads version 2 and the challenge in %j', (text, challenge) => {
    expect(read(text)).toMatchObject({ version: 2, challenge });
  });

  it.each([
    ['VOTIFIER 1.9\n', 'VOTIFIER 1.9'],
    ['VOTIFIER 1\r\n', 'VOTIFIER 1'],
    ['VOTIFIER 1.9 session\n', 'VOTIFIER 1.9 session'],
    ['VOTIFIER 2.7.2\n', 'VOTIFIER 2.7.2'],
    ['VOTIFIER 2.3.6\r\n', 'VOTIFIER 2.3.6'],
    ['VOTIFIER 2.1 beta build\n', 'VOTIFIER 2.1 beta build'],
    ['VOTIFIER 2\n', 'VOTIFIER 2'],
    ['VOTIFIER 2 \r\n', 'VOTIFIER 2'],
    ['VOTIFIER 20 abc\n', 'VOTIFIER 20 abc'],
    ['VOTIFIER v1 abc\n', 'VOTIFIER v1 abc'],
    ['VOTIFIER\n', 'VOTIFIER'],
  ])('reads version 1 in %j, which has no challenge after the version', (text, banner) => {
    expect(read(text)).toMatchObject({ version: 1, banner });
  });

  it.each([
    ['SSH-2.0-OpenSSH_9.2p1\r\n', 'SSH-2.0-OpenSSH_9.2p1'],
    ['HTTP/1.1 400 Bad Request\r\n', 'HTTP/1.1 400 Bad Request'],
    ['PROXY TCP4 1.2.3.4\r\n', 'PROXY TCP4 1.2.3.4'],
    ['VOTIFIERS 2 abc\n', 'VOTIFIERS 2 abc'],
    ['votifier 2 abc\n', 'votifier 2 abc'],
    [' VOTIFIER 2 abc\n', 'VOTIFIER 2 abc'],
    ['\n', ''],
    ['\u001b[2J\u202e\n', '(7 bytes that are not text)'],
  ])('finds no Votifier greeting in %j', (text, words) => {
    expect(read(text)).toEqual({ notVotifier: words });
  });

  it('keeps the bytes after the line', () => {
    expect(read('VOTIFIER 2 abc\n{"status":"ok"}')).toMatchObject({ rest: Buffer.from('{"status":"ok"}') });
    expect(read('VOTIFIER 2 abc\n')).toMatchObject({ rest: Buffer.alloc(0) });
  });

  it('waits for the end of the line, but not for ever', () => {
    expect(read('')).toBe('incomplete');
    expect(read('VOTIFIER 2 abc')).toBe('incomplete');
    expect(read('x'.repeat(255))).toBe('incomplete');
    expect(read('x'.repeat(256))).toEqual({ notVotifier: 'x'.repeat(200) });
    expect(read(`VOTIFIER 2 ${'c'.repeat(244)}\n`)).toMatchObject({ version: 2 });
    expect(read(`VOTIFIER 2 ${'c'.repeat(245)}\n`)).toMatchObject({ notVotifier: expect.any(String) });
  });

  it('has the same result however the bytes are split', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 600 }),
      anyText().map((text) => Buffer.from(`VOTIFIER 2${text}\n`)),
    );
    fc.assert(
      fc.property(bytes, (any) => {
        const heard = Buffer.from(any);
        let first: ReturnType<typeof readGreeting> = 'incomplete';
        for (let end = 1; end <= heard.length && first === 'incomplete'; end += 1) {
          first = readGreeting(heard.subarray(0, end));
        }
        const whole = readGreeting(heard);
        if (first === 'incomplete' || whole === 'incomplete') expect(whole).toBe(first);
        else expect({ ...whole, rest: '' }).toEqual({ ...first, rest: '' });
      }),
    );
  });
});

describe('isGreetingStart', () => {
  it('recognises the beginning of a greeting', () => {
    for (const text of ['', 'V', 'VOTIFIER', 'VOTIFIER 2 abc']) {
      expect(isGreetingStart(Buffer.from(text))).toBe(true);
    }
    for (const text of ['X', 'VOTE', 'HTTP/1.1']) expect(isGreetingStart(Buffer.from(text))).toBe(false);
  });
});
