import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { defineMessage, t } from '../language/t.ts';
import type { Listener } from '../listeners/listener.ts';
import { CodedError } from '../platform/app-error.ts';
import { kindOfText } from '../servers/token-text.ts';

/** The message says what is wrong with the pasted key or token. */
export class CredentialError extends CodedError<'key-invalid' | 'token-malformed'> {}

/** The encryption context of a listener's secret. A secret of another server cannot be decrypted with it. */
export function secretContext(listener: Pick<Listener, 'serverId'>): string {
  return `listener of ${listener.serverId.toHexString()}`;
}

/** NuVotifier accepts keys of this size only, and all other listeners generate keys of this size. */
const KEY_BITS = 2_048;
/** A 2048-bit public key has 392 characters. Private keys and certificates fit too, so that the error can name them. */
const LONGEST_PASTE = 16_384;

/**
 * Reads the public key of a v1 listener as its owner pastes it: base64 or PEM, with any line breaks and white space.
 * `line` is one line of base64 (X.509 SubjectPublicKeyInfo), as in `public.key`.
 *
 * @throws {CredentialError} `key-invalid`
 */
export function parsePublicKey(text: string): { publicKey: KeyObject; line: string } {
  if (text.trim() === '') throw keyFault(t('The public key is empty.'));
  if (text.length > LONGEST_PASTE) throw keyFault(t('This is far too long to be a public key.'));

  const { label, body } = unwrapPem(text);
  // This check comes first: the later ones accept some private keys, because Node derives a public key from them.
  if (holdsPrivateKey(text)) throw keyFault(t(PRIVATE));
  if (label && !/^(RSA )?PUBLIC KEY$/.test(label))
    throw keyFault(t('This is a {kind}, not a public key.', { kind: label.toLowerCase() }));
  if (!label && looksLikeToken(body)) {
    throw keyFault(
      t('This looks like a token, not a public key: choose Votifier v2, or paste the content of public.key.'),
    );
  }
  if (!isBase64(body))
    throw keyFault(t('The public key is not readable: its base64 is broken. Paste it whole.'));

  const der = Buffer.from(body, 'base64');
  const publicKey = readPublicKey(der);
  if (!publicKey) throw keyFault(t('This is base64, but not a public key. Paste it whole.'));
  if (publicKey.asymmetricKeyType !== 'rsa') {
    throw keyFault(
      t('This is not an RSA key, but one of type {kind}.', {
        kind: publicKey.asymmetricKeyType ?? 'unknown',
      }),
    );
  }
  const bits = publicKey.asymmetricKeyDetails?.modulusLength;
  if (bits !== KEY_BITS)
    throw keyFault(
      t('The RSA key has {bits} bits; Votifier uses keys of {expected} bits.', {
        bits: bits ?? 0,
        expected: KEY_BITS,
      }),
    );
  return { publicKey, line: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };
}

/** Whether the pasted text is a private key, which belongs only on the game server. */
export function holdsPrivateKey(text: string): boolean {
  const { label, body } = unwrapPem(text);
  return /PRIVATE KEY/.test(label) || (isBase64(body) && isPrivateKey(Buffer.from(body, 'base64')));
}

function keyFault(reason: string): CredentialError {
  return new CredentialError('key-invalid', reason);
}

const PRIVATE = defineMessage(
  'This is a private key. It must stay on the game server: paste the public key, and make a new pair if others saw this one.',
);

/** Text without a PEM block has no label and is all content. */
function unwrapPem(text: string): { label: string; body: string } {
  const block = /-----BEGIN ([A-Z0-9 ]+)-----(.*?)(-----END \1-----|$)/s.exec(text);
  return { label: block?.[1] ?? '', body: (block?.[2] ?? text).replace(/[\s\u200b]/g, '') };
}

function isBase64(body: string): boolean {
  return body.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(body);
}

/** NuVotifier's tokens have about 26 letters and digits; a key has hundreds. */
function looksLikeToken(body: string): boolean {
  return /^[\w-]{8,100}$/.test(body);
}

function readPublicKey(der: Buffer): KeyObject | undefined {
  return (
    attempt(() => createPublicKey({ key: der, format: 'der', type: 'spki' })) ??
    attempt(() => createPublicKey({ key: der, format: 'der', type: 'pkcs1' }))
  );
}

/** Owners mistake `private.key` for `public.key`: both have the same form. */
function isPrivateKey(der: Buffer): boolean {
  const forms = ['pkcs8', 'pkcs1', 'sec1'] as const;
  return forms.some((type) => attempt(() => createPrivateKey({ key: der, format: 'der', type })));
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const LONGEST_TOKEN = 256;
/** A line of NuVotifier's `config.yml`: a key and its value, like `default: abc`, or `tokens:` with more lines. */
const CONFIGURATION_LINE = /^["']?((?:tokens?|default)["']?\s*[:=]|[\w.-]{1,50}["']?\s*[:=](?=\s))/i;

/** Reads the token of a v2 listener as its owner pastes it. @throws {CredentialError} `token-malformed` */
export function parseToken(text: string): string {
  const token = text.trim();
  if (token === '') throw tokenFault(t('The token is empty.'));
  if (looksLikeKey(token)) {
    throw tokenFault(
      t(
        'This is a key, not a token: choose Votifier v1, or paste the token from the listener’s configuration.',
      ),
    );
  }
  if (kindOfText(token)) {
    throw tokenFault(
      t(
        'This is an API token of this listing, not the vote plugin’s token: copy the one in the plugin’s own configuration.',
      ),
    );
  }
  if ([...token].length > LONGEST_TOKEN)
    throw tokenFault(t('A token has at most {max} characters.', { max: LONGEST_TOKEN }));
  const [, key] = CONFIGURATION_LINE.exec(token) ?? [];
  if (key)
    throw tokenFault(t('This is a line of a configuration: paste only what follows “{key}”.', { key }));
  if (/^(["'`])[^"'`]*\1$|^[“„«‘‚].*[”“»’‘]$/.test(token))
    throw tokenFault(t('The token has quotes around it: paste it without them.'));
  if (/\s/.test(token)) throw tokenFault(t('The token has white space in it: paste the token alone.'));
  if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(token))
    throw tokenFault(t('The token has invisible characters in it: type it by hand.'));
  return token;
}

function tokenFault(reason: string): CredentialError {
  return new CredentialError('token-malformed', reason);
}

/** In DER, a key is a sequence of more than 127 bytes, so its base64 begins with `MI`. */
function looksLikeKey(token: string): boolean {
  if (token.includes('-----BEGIN ')) return true;
  const body = token.replace(/\s/g, '');
  return body.length > 100 && /^MI[A-Za-z0-9+/]+={0,2}$/.test(body);
}
