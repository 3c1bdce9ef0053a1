import { constants, createHmac, createPublicKey, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertSendable, type ForwardedVote } from '../../src/delivery/vote-message.ts';
import { neverLikeV2, v1Block } from '../../src/delivery/votifier/votifier-v1.ts';
import { tokenKey, v2Frame } from '../../src/delivery/votifier/votifier-v2.ts';
import { anyText } from '../support/any-text.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const vote: ForwardedVote = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Zoë🎉',
  votedAt: new Date('2026-11-21T08:00:00.000Z'),
};
const TOKEN = 'geheim-ключ';
const signing = { serviceName: 'Tallyport', key: tokenKey(TOKEN), challenge: '3gk5lqv0r8u1n7a2b4c6d8e0f2' };

function bytesOf(frame: Buffer | 'frame-too-long'): Buffer {
  if (frame === 'frame-too-long') throw new Error('unexpectedly too long');
  return frame;
}

function decrypt(block: Buffer): string {
  return privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, block).toString('utf8');
}

function challenged(challenge: string) {
  return v2Frame(vote, { ...signing, challenge });
}

/** A frame parsed by the rules of docs/delivery.md, without the code under test. */
function takeApart(frame: Buffer): {
  payload: Record<string, unknown>;
  payloadText: string;
  signature: string;
} {
  expect(frame.readUInt16BE(0)).toBe(0x733a);
  expect(frame.readUInt16BE(2)).toBe(frame.length - 4);
  const { payload, signature } = JSON.parse(frame.toString('utf8', 4));
  return { payload: JSON.parse(payload), payloadText: payload, signature };
}

describe('v2Frame', () => {
  it('signs as `openssl dgst -sha256 -hmac` does (golden vector, made outside this project)', () => {
    const { payloadText, signature } = takeApart(bytesOf(v2Frame(vote, signing)));
    expect(payloadText).toBe(
      '{"serviceName":"Tallyport","username":"Zoë🎉","address":"0.0.0.0","timestamp":1795248000000,' +
        '"challenge":"3gk5lqv0r8u1n7a2b4c6d8e0f2","uuid":"01998a3e-7e4b-7000-8000-0123456789ab"}',
    );
    expect(signature).toBe('dNAP0lWo9S4RmyQkazCHOxcaPFoECXlz3VmPEWLBrZc=');
  });

  it('counts bytes, not characters', () => {
    const frame = bytesOf(v2Frame({ ...vote, username: '🎉'.repeat(50) }, signing));
    expect(frame.readUInt16BE(2)).toBe(frame.length - 4);
    expect(takeApart(frame).payload.username).toBe('🎉'.repeat(50));
  });

  it('depends only on the vote and the challenge, not on the time', () => {
    const [first, again] = [bytesOf(v2Frame(vote, signing)), bytesOf(v2Frame({ ...vote }, { ...signing }))];
    expect(again.equals(first)).toBe(true);
  });

  it('makes frames of up to 1,024 bytes and no longer ones', () => {
    const room = 1_024 - bytesOf(challenged('')).length;
    expect(bytesOf(challenged('c'.repeat(room)))).toHaveLength(1_024);
    expect(challenged('c'.repeat(room + 1))).toBe('frame-too-long');
  });

  it('transports any name and any challenge unchanged', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(name, anyText({ maxLength: 60 }), (username, challenge) => {
        const frame = v2Frame({ ...vote, username }, { ...signing, challenge: challenge.toWellFormed() });
        if (frame === 'frame-too-long') return;
        const { payload, payloadText, signature } = takeApart(frame);
        expect(frame.length).toBeLessThanOrEqual(1_024);
        expect(payload).toEqual({
          serviceName: 'Tallyport',
          username,
          address: '0.0.0.0',
          timestamp: vote.votedAt.getTime(),
          challenge: challenge.toWellFormed(),
          uuid: vote.id,
        });
        expect(signature).toBe(createHmac('sha256', TOKEN).update(payloadText).digest('base64'));
      }),
    );
  });
});

describe('v1Block', () => {
  it('encrypts five lines into 256 bytes', () => {
    const block = bytesOf(v1Block(vote, 'Tallyport', publicKey));
    expect(block).toHaveLength(256);
    expect(decrypt(block)).toBe('VOTE\nTallyport\nZoë🎉\n0.0.0.0\n1795248000000\n');
  });

  it('accepts texts of up to 245 bytes, counted in bytes', () => {
    const rest = Buffer.byteLength('VOTE\nTallyport\n\n0.0.0.0\n1795248000000\n');
    const ofLength = (bytes: number) =>
      v1Block({ ...vote, username: `é${'x'.repeat(bytes - rest - 2)}` }, 'Tallyport', publicKey);
    expect(Buffer.byteLength(decrypt(bytesOf(ofLength(245))))).toBe(245);
    expect(ofLength(246)).toBe('frame-too-long');
  });

  it('has room for 50 emoji only if the service name is short', () => {
    const longest = { ...vote, username: '🎉'.repeat(50) };
    expect(decrypt(bytesOf(v1Block(longest, 'Tally', publicKey)))).toContain(longest.username);
    expect(v1Block(longest, 'T'.repeat(64), publicKey)).toBe('frame-too-long');
  });

  it('never looks like a v2 frame', () => {
    const blocks = ['733a00', '733aff', '723a00', '733b00'].map((hex) => Buffer.from(hex, 'hex'));
    expect(neverLikeV2(() => blocks.shift() ?? Buffer.alloc(0)).toString('hex')).toBe('723a00');
    expect(blocks).toHaveLength(1);
  });

  it('accepts keys of 2048 bits only', () => {
    const large = generateKeyPairSync('rsa', { modulusLength: 3_072 }).publicKey;
    expect(() => v1Block(vote, 'Tallyport', large)).toThrow(TypeError);
    expect(
      v1Block(vote, 'Tallyport', createPublicKey(publicKey.export({ type: 'pkcs1', format: 'pem' }))),
    ).toHaveLength(256);
  });
});

describe('assertSendable', () => {
  it.each([
    'a\nb',
    'a\rb',
    'a\u0000b',
    'a\u0085b',
    '\u007f',
    'a\u001b[0m',
    '',
    '\ud83d',
    'a\udc00',
  ])('never sends a name like %j', (text) => {
    expect(() => assertSendable({ ...vote, username: text }, 'Tallyport')).toThrow(TypeError);
    expect(() => assertSendable(vote, text)).toThrow(TypeError);
  });

  it.each([
    'Steve',
    ' spaced ',
    '.dot',
    'Zoë',
    '🎉'.repeat(50),
    'zero\u200bwidth',
  ])('sends %j as typed', (username) => {
    expect(() => assertSendable({ ...vote, username }, 'Tallyport')).not.toThrow();
  });

  it('requires a UUID with dashes and a valid time', () => {
    expect(() => assertSendable({ ...vote, id: vote.id.replaceAll('-', '') }, 'T')).toThrow(TypeError);
    expect(() => assertSendable({ ...vote, votedAt: new Date(Number.NaN) }, 'T')).toThrow(TypeError);
  });
});
