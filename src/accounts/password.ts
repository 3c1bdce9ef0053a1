import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** What a hash costs to compute: scrypt's parameters. */
export type PasswordCost = { N: number; r: number; p: number };

/** How passwords are hashed and checked. */
export type PasswordHashing = { hash: typeof hashPassword; verify: typeof verifyPassword };

/**
 * OWASP's password storage advice names N=2^17 r=8 p=1 and N=2^15 r=8 p=3 as equally strong; the second needs
 * 32 MiB a try in place of 128, which a web process can spare.
 */
const COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** What is kept of a password: `scrypt$N$r$p$salt$hash`, the last two in base64url. It names its own cost. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Whether `password` is the one that `stored` was made from, in a time that does not tell how near it was.
 *
 * @param stored - as made by `hashPassword`
 * @throws an error when it was cut off or its figures are none that scrypt takes
 */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored.split('$');
  const expected = Buffer.from(hash, 'base64url');
  // Of a hash that was cut off, nothing might be left to compare: every password would be right.
  if (expected.length !== HASH_BYTES) throw new Error('a stored password hash is not whole');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return timingSafeEqual(found, expected);
}

function derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.N * cost.r };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The same word typed on two keyboards may be composed differently: NFKC makes it one.
  scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
    error ? reject(error) : resolve(key),
  );
  return promise;
}
