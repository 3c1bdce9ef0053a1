import { z } from 'zod';
import { t } from '../language/t.ts';

/** The most code points a name may have. */
export const LONGEST_USERNAME = 50;

/** The lengths of a name in code points, for JSON schemas. */
export const USERNAME_BOUNDS = { minLength: 1, maxLength: LONGEST_USERNAME };

/**
 * The key of a player: two spellings with the same key are the same player. It has Unicode NFKC, full case folding, no
 * default-ignorable characters and single spaces. Upper-casing and then lower-casing folds all letters except two: ẞ is
 * its own capital, so the text is lower-cased first. The small form of Σ depends on its neighbours, even invisible
 * ones, so ς is replaced. The dotless ı becomes i, because both have the same capital.
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
 * A player's name in a request: trimmed, 1 to 50 code points, no control characters (a line feed would forge a field of
 * the forwarded vote), at least one visible character.
 */
export const usernameSchema = z
  .string({ error: () => t('username is required and must be a string') })
  .refine((name) => name.isWellFormed(), {
    error: () =>
      t('username must be valid Unicode: it has an unpaired surrogate or malformed percent-encoding'),
    abort: true,
  })
  .transform((name) => name.trim())
  .refine((name) => name.length > 0, { error: () => t('username must not be empty'), abort: true })
  .refine((name) => [...name].length <= LONGEST_USERNAME, {
    error: () => t('username must have at most {max} characters', { max: LONGEST_USERNAME }),
    // Normalizing a long sequence of combining marks takes quadratic time.
    abort: true,
  })
  .refine((name) => !/\p{Cc}/u.test(name), {
    error: () => t('username must not contain control characters'),
  })
  .refine((name) => usernameKey(name) !== '', {
    error: () => t('username must have a visible character'),
  });
