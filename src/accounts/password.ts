import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

export type PasswordCost = { N: number; r: number; p: number };

export type PasswordHasher = { hash: typeof hashPassword; verify: typeof verifyPassword };

/** OWASP calls N=2^17 r=8 p=1 and N=2^15 r=8 p=3 equally strong. The second uses 32 MiB per hash, not 128 MiB. */
const COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** The result is `scrypt$N$r$p$salt$hash`, with salt and hash in base64url. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * The comparison takes constant time.
 *
 * @throws an error when `stored` is cut off or its parameters are not valid for scrypt
 */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored.split('$');
  const expected = Buffer.from(hash, 'base64url');
  // A hash that was cut off must not match any password.
  if (expected.length !== HASH_BYTES) throw new Error('a stored password hash is not whole');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return timingSafeEqual(found, expected);
}

function derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.N * cost.r };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // NFKC makes two encodings of the same character equal; keyboards differ in the encoding that they send.
  scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
    error ? reject(error) : resolve(key),
  );
  return promise;
}
