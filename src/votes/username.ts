import { z } from 'zod';

/** The most code points a name may have. */
export const LONGEST_USERNAME = 50;

/** The same for a description, in code points. */
export const USERNAME_BOUNDS = { minLength: 1, maxLength: LONGEST_USERNAME };

/**
 * The key under which two spellings are the same player (contract, POST …/vote): Unicode NFKC, full case
 * folding, default-ignorable characters removed, white space collapsed. Upper- then lower-casing folds all but
 * two letters: ẞ, which is its own capital, so lower-casing comes first; and Σ, whose small form depends on its
 * neighbours, invisible ones too. So the dotless ı is an i, whose capital it shares; folding alone would part them.
 *
 * @returns an empty string when nothing visible is left
 */
export function usernameKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\s\p{White_Space}]+/gu, ' ')
    .trim();
}

/**
 * A player's name as a request gives it: trimmed, 1 to 50 code points, no control characters (a line feed
 * would forge a field of the forwarded vote), not only of invisible ones.
 */
export const usernameSchema = z
  .string({ error: 'username is required and must be a string' })
  .refine((name) => name.isWellFormed(), {
    error: 'username must be valid Unicode: it has an unpaired surrogate or malformed percent-encoding',
    abort: true,
  })
  .transform((name) => name.trim())
  .refine((name) => name.length > 0, { error: 'username must not be empty', abort: true })
  .refine((name) => [...name].length <= LONGEST_USERNAME, {
    error: `username must have at most ${LONGEST_USERNAME} characters`,
    // To normalize a long row of combining marks takes time by the square of its length.
    abort: true,
  })
  .refine((name) => !/\p{Cc}/u.test(name), { error: 'username must not contain control characters' })
  .refine((name) => usernameKey(name) !== '', { error: 'username must have a visible character' });
