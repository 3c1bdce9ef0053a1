import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meaningOfError, readVotifierReply } from '../../src/delivery/votifier/votifier-v2.ts';
import { anyText } from '../support/any-text.ts';

/** An acknowledgement of the given length. */
const padded = (length: number) => `{"pad":"${'x'.repeat(length - 24)}","status":"ok"}`;
const read = (text: string) => readVotifierReply(Buffer.from(text));

describe('readVotifierReply', () => {
  it.each([
    '{"status":"ok"}',
    '{"status":"ok"}\r\n',
    '\r\n {"status":"ok"}',
    '{ "status" : "ok", "more": {"nested": "}"} }',
    '{"note":"a \\" } brace","status":"ok"}',
    '{"status":"ok"}{"status":"error"}',
    '{"status":"ok"} and more',
    // Written in Go without JSON tags.
    '{"Status":"ok"}',
    '{"STATUS":"ok","Error":""}',
  ])('reads an acknowledgement in %s', (text) => {
    expect(read(text)).toEqual({ status: 'ok' });
  });

  it.each([
    [
      '{"status":"error","cause":"CorruptedFrameException","error":"Challenge is not valid"}\r\n',
      'CorruptedFrameException: Challenge is not valid',
    ],
    ['{"status":"error","cause":"NullPointerException"}', 'NullPointerException'],
    // Written in Go without JSON tags, and three variations.
    [
      '{"Status":"error","Cause":"CorruptedFrameException","Error":"Signature is not valid"}\r\n',
      'CorruptedFrameException: Signature is not valid',
    ],
    ['{"STATUS":"error","CAUSE":"Unknown service \'x\'"}', "Unknown service 'x'"],
    ['{"Status":"error","ErrorMessage":"disk full"}', 'disk full'],
    ['{"status":"error","Cause":"a","cause":"b"}', 'b'],
    [
      '{"status":"error","cause":"Decryption failed","errorMessage":"Decryption failed"}',
      'Decryption failed',
    ],
    ['{"status":"error","error":"a\\u0000b\\u202ec"}', 'a\u0000b\u202ec'],
    ['{"status":"error","cause":7,"error":null}', '{"status":"error","cause":7,"error":null}'],
  ])('reads an error and its text in %s', (answer, text) => {
    expect(read(answer)).toEqual({ status: 'error', text });
  });

  it.each([
    '{"status":"OK"}',
    '{"status":"ok "}',
    '{"status":["ok"]}',
    '{"status":true}',
    '{"Status":"OK"}',
    '{"status":"no","Status":"ok"}',
    '{"answer":{"status":"ok"}}',
    '{"__proto__":{"status":"ok"}}',
    '{}',
    "{'status':'ok'}",
    '{"status":"ok",}',
    '{status:ok}',
    '[{"status":"ok"}]\n',
    '"ok"\n',
    'ok\n',
    'Okay\n',
    'HTTP/1.1 400 Bad Request\r\n',
    'null\n',
  ])('reads neither in %s', (text) => {
    expect(read(text)).toEqual({ status: 'garbage', text: expect.any(String) });
  });

  it.each([
    '',
    '\r\n',
    '{',
    '{"status":"ok"',
    '{"status":"o}',
    '{"a":"\\"}',
    'Okay',
    'ok',
  ])('waits for more after %j', (text) => {
    expect(read(text)).toBe('incomplete');
  });

  it('reads 4 KiB and no more', () => {
    expect(read(padded(4_096))).toEqual({ status: 'ok' });
    expect(read(padded(4_097))).toEqual({ status: 'garbage', text: expect.any(String) });
    expect(read('x'.repeat(4_095))).toBe('incomplete');
    expect(read('x'.repeat(100_000))).toEqual({ status: 'garbage', text: 'x'.repeat(4_096) });
    expect(read(' '.repeat(4_096))).toEqual({ status: 'garbage', text: '' });
  });

  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        status: fc.oneof(fc.constantFrom('ok', 'error', 'OK'), fc.string()),
        error: anyText(),
      })
      .map((answer) => Buffer.from(JSON.stringify(answer))),
    fc
      .array(fc.constantFrom('{', '}', '"', '\\', '"status"', ':', '"ok"', ' ', '\n', ','))
      .map((parts) => Buffer.from(parts.join(''))),
  );

  it('has the same result however the bytes are split', () => {
    fc.assert(
      fc.property(bytes, (any) => {
        const heard = Buffer.from(any);
        let first: ReturnType<typeof readVotifierReply> = 'incomplete';
        for (let end = 1; end <= heard.length && first === 'incomplete'; end += 1) {
          first = readVotifierReply(heard.subarray(0, end));
        }
        if (first === 'incomplete' || first.status !== 'garbage')
          expect(readVotifierReply(heard)).toEqual(first);
        else expect(readVotifierReply(heard)).toMatchObject({ status: 'garbage' });
      }),
      { numRuns: 100 },
    );
  });

  it('accepts as an acknowledgement only an object whose status is exactly "ok"', () => {
    fc.assert(
      fc.property(bytes, (any) => {
        const heard = Buffer.from(any);
        const reply = readVotifierReply(heard);
        if (reply === 'incomplete' || reply.status !== 'ok') return;
        const text = heard.toString('utf8');
        const ends = [...text.matchAll(/\}/g)].map(({ index }) => index + 1);
        const objects = ends.map((end) => {
          try {
            return JSON.parse(text.slice(0, end));
          } catch {
            return undefined;
          }
        });
        expect(objects.find((object) => object !== undefined)).toMatchObject({ status: 'ok' });
      }),
      { numRuns: 100 },
    );
  });
});

describe('meaningOfError', () => {
  it.each([
    ['CorruptedFrameException: Signature is not valid (invalid token?)', 'bad-signature'],
    ['Signature verification failed', 'bad-signature'],
    ['CorruptedFrameException: Challenge is not valid', 'challenge-refused'],
    ['Challenge verification failed', 'challenge-refused'],
    ['CorruptedFrameException: Username too long', 'name-too-long'],
    ['TooLongFrameException: Adjusted frame length exceeds 1024: 1100 - discarded', 'frame-too-long'],
    ["DecoderException: java.lang.RuntimeException: Unknown service 'Tallyport'", 'unknown-service'],
    ["RuntimeException: Unknown service 'Signature Challenge Servers'", 'unknown-service'],
    ['Decryption failed', 'key-invalid'],
    ['Could not decrypt data (is your key correct?)', 'key-invalid'],
    ['NullPointerException', 'unknown-error'],
    ['', 'unknown-error'],
  ])('understands “%s”', (text, code) => {
    expect(meaningOfError(text, 'Steve')).toBe(code);
  });

  it('lets no player pause a listener by choosing a name', () => {
    for (const name of ['signature', 'Unknown service', 'decrypt me']) {
      expect(meaningOfError(`Plugin failed for ${name}`, name)).toBe('unknown-error');
    }
  });
});
