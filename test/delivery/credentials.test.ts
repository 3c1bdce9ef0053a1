import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CredentialError, parsePublicKey, parseToken } from '../../src/delivery/credentials.ts';
import { makeApiToken } from '../../src/servers/token-text.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const line = spki(publicKey);
const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));

function spki(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

describe('parsePublicKey', () => {
  it.each([
    ['one line, as in public.key', line],
    ['one line with white space around it', `\r\n  ${line}\t\n\u00a0`],
    ['one line with a byte order mark', `\ufeff${line}`],
    ['lines of 76 characters', line.replace(/(.{76})/g, '$1\r\n')],
    ['PEM', pem],
    ['PEM with Windows line ends', pem.replaceAll('\n', '\r\n')],
    ['PEM whose line breaks became blanks', pem.replaceAll('\n', ' ')],
    ['PEM without its last line', pem.replace(/-----END.*/s, '')],
    ['PEM of PKCS#1', String(publicKey.export({ type: 'pkcs1', format: 'pem' }))],
    ['a mail around the PEM', `Here is my key:\n${pem}\nRegards`],
  ])('reads %s', (_, text) => {
    const key = parsePublicKey(text);
    expect(key.line).toBe(line);
    expect(key.publicKey.equals(publicKey)).toBe(true);
  });

  const privatePems = (['pkcs8', 'pkcs1'] as const).map((type) =>
    String(privateKey.export({ type, format: 'pem' })),
  );
  const privateLines = (['pkcs8', 'pkcs1'] as const).map((type) =>
    privateKey.export({ type, format: 'der' }).toString('base64'),
  );
  it.each([...privatePems, ...privateLines])('recognises a private key (%#)', (text) => {
    expect(() => parsePublicKey(text)).toThrow(/^This is a private key\./);
  });

  it.each([
    ['nothing', '', 'The public key is empty.'],
    ['white space', ' \n', 'The public key is empty.'],
    ['a token', '3gk5lqv0r8u1n7a2b4c6d8e0f2', 'looks like a token'],
    ['half a key', line.slice(0, 200), 'not a public key'],
    ['a key that lost its end', line.slice(0, -3), 'base64 is broken'],
    ['a key that lost its beginning', line.slice(8), 'not a public key'],
    ['a key with other characters', line.replace('A', '*'), 'base64 is broken'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', 'a certificate'],
    ['an SSH key', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ== steve@home', 'base64 is broken'],
    ['a novel', 'x'.repeat(20_000), 'too long'],
    [
      'an EC key',
      spki(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey),
      'not an RSA key, but one of type ec',
    ],
    ['an Ed25519 key', spki(generateKeyPairSync('ed25519').publicKey), 'not an RSA key'],
    [
      'an RSA key of 1024 bits',
      spki(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey),
      '1024 bits',
    ],
    [
      'an RSA key of 3072 bits',
      spki(generateKeyPairSync('rsa', { modulusLength: 3_072 }).publicKey),
      '3072 bits',
    ],
  ])('refuses %s and says why', (_, text, reason) => {
    expect(() => parsePublicKey(text)).toThrow(CredentialError);
    expect(() => parsePublicKey(text)).toThrow(reason);
    expect(() => parsePublicKey(text)).toThrow(expect.objectContaining({ code: 'key-invalid' }));
  });

  it('repeats no secret in its message', () => {
    for (const text of ['3gk5lqv0r8u1n7a2b4c6d8e0f2', ...privateLines]) {
      expect(() => parsePublicKey(text)).toThrow(expect.not.stringContaining(text.slice(0, 20)));
    }
  });
});

describe('parseToken', () => {
  it.each([
    ['3gk5lqv0r8u1n7a2b4c6d8e0f2', '3gk5lqv0r8u1n7a2b4c6d8e0f2'],
    ['  geheim-ключ\r\n', 'geheim-ключ'],
    ['x', 'x'],
    ['ab:cd', 'ab:cd'],
    ['it\'s"', 'it\'s"'],
    ['🎉'.repeat(256), '🎉'.repeat(256)],
  ])('reads %s', (text, token) => {
    expect(parseToken(text)).toBe(token);
  });

  it.each([
    ['nothing', ' \n', 'empty'],
    ['two words', 'my token', 'white space'],
    ['two lines', 'my\ntoken', 'white space'],
    ['a public key', line, 'This is a key, not a token'],
    ['a public key in lines', line.replace(/(.{64})/g, '$1\n'), 'This is a key, not a token'],
    ['a PEM block', pem, 'This is a key, not a token'],
    ['an API token of ours', makeApiToken(), 'This is an API token of this listing'],
    ['double quotes', '"3gk5lqv0r8"', 'quotes around it'],
    ['single quotes', "'3gk5lqv0r8'", 'quotes around it'],
    ['typographic quotes', '„3gk5lqv0r8“', 'quotes around it'],
    ['its key', 'default: 3gk5lqv0r8', 'only what follows “default:”'],
    ['its key without a blank', 'default:3gk5lqv0r8', 'only what follows “default:”'],
    ['its key and quotes', '"default": "3gk5lqv0r8"', 'only what follows'],
    ['a service name and the token', 'MyListing: 3gk5lqv0r8', 'only what follows “MyListing:”'],
    ['the section', 'tokens:\n  default: 3gk5lqv0r8', 'only what follows “tokens:”'],
    ['a setting of another plugin', 'token=3gk5lqv0r8', 'only what follows “token=”'],
    ['a control character', 'to\u0000ken', 'invisible'],
    ['a zero-width character', 'to\u200bken', 'invisible'],
    ['an unpaired surrogate', 'to\ud83dken', 'invisible'],
    ['257 characters', 'x'.repeat(257), 'at most 256'],
  ])('refuses %s and says why', (_, text, reason) => {
    expect(() => parseToken(text)).toThrow(reason);
    expect(() => parseToken(text)).toThrow(expect.objectContaining({ code: 'token-malformed' }));
  });
});
