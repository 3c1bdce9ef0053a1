import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from './app-error.ts';

/** A sealed secret cannot be opened: no known key opens it, or it was changed or copied to another document. */
export class UnsealError extends AppError {
  constructor(reason: string) {
    super(`A stored secret cannot be read: ${reason}`);
  }
}

/** Encrypts secrets at rest, such as listener keys and mails (design rule 10). */
export type SecretBox = {
  /** Only the same `context` opens it, so a sealed value is useless in another document. */
  seal(text: string, context: string): string;
  /** @throws {UnsealError} when no key fits or the value was tampered with */
  open(sealed: string, context: string): string;
  /** A MongoDB filter for fields that were sealed under a key that this process does not have. */
  readonly sealedByOthers: { $regex: RegExp; $not: RegExp };
};

type Key = { id: string; bytes: Buffer };

const CIPHER = 'aes-256-gcm';

/** The length of the tag is explicit, because by default Node also accepts 4 bytes, and such a tag can be guessed. */
const TAG_BYTES = 16;

function deriveKey(secret: string, purpose: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, 'tallyport', purpose, 32));
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
}

/** For one purpose, such as signing session cookies. */
export function derivedKey(secret: string, purpose: string): Buffer {
  return deriveKey(secret, purpose).bytes;
}

/**
 * Values that were sealed under `SECRET_KEY_PREVIOUS` can still be opened, so a change of the key costs owners nothing.
 */
export function createSecretBox(secret: string, previous?: string): SecretBox {
  const current = deriveKey(secret, 'secrets at rest');
  const keys = new Map(
    [current, ...(previous ? [deriveKey(previous, 'secrets at rest')] : [])].map((key) => [key.id, key]),
  );

  return {
    sealedByOthers: { $regex: /^v1\./, $not: new RegExp(`^v1\\.(?:${[...keys.keys()].join('|')})\\.`) },
    seal(text, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv(CIPHER, current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        'v1',
        current.id,
        ...[nonce, sealed, cipher.getAuthTag()].map((part) => part.toString('base64url')),
      ].join('.');
    },
    open(sealed, context) {
      const [version, keyId = '', nonce = '', body = '', tag = ''] = sealed.split('.');
      const key = keys.get(keyId);
      if (version !== 'v1') throw new UnsealError('it has an unknown format');
      if (!key)
        throw new UnsealError('it was sealed under another SECRET_KEY; set that one as SECRET_KEY_PREVIOUS');
      try {
        const decipher = createDecipheriv(CIPHER, key.bytes, Buffer.from(nonce, 'base64url'), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(context));
        decipher.setAuthTag(Buffer.from(tag, 'base64url'));
        return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString(
          'utf8',
        );
      } catch {
        throw new UnsealError('it was changed or moved');
      }
    },
  };
}
