import { z } from 'zod';
import { t } from '../language/t.ts';

/** In code points. */
export const LONGEST_USERNAME = 50;

export const USERNAME_BOUNDS = { minLength: 1, maxLength: LONGEST_USERNAME };

/**
 * Spellings with the same key are the same player. ẞ is its own capital, so the text is lower-cased before it is
 * upper-cased. The small form of Σ depends on its neighbours, even invisible ones, so ς is replaced. The dotless ı
 * becomes i: both have the same capital. Empty when nothing visible is left.
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

/** A line feed would forge a field of the forwarded vote. */
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
    // Normalizing many combining marks takes quadratic time.
    abort: true,
  })
  .refine((name) => !/\p{Cc}/u.test(name), {
    error: () => t('username must not contain control characters'),
  })
  .refine((name) => usernameKey(name) !== '', {
    error: () => t('username must have a visible character'),
  });
