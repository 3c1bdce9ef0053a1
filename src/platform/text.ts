import { z } from 'zod';
import { t } from '../language/t.ts';
import { containedText } from './contained-text.ts';

/** Unicode code points: so the API contract counts characters. */
function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** In code points. The caller adds the field to the messages. */
export function text({ min = 0, max }: { min?: number; max: number }) {
  return z
    .string({ error: () => t('must be a string') })
    .refine((value) => value.isWellFormed(), {
      error: () => t('must be valid Unicode: it has an unpaired surrogate'),
      abort: true,
    })
    .refine((value) => min === 0 || codePoints(value) >= min, {
      error: () => (min === 1 ? t('must not be empty') : t('must have at least {min} characters', { min })),
    })
    .refine((value) => codePoints(value) <= max, {
      error: () => t('must have at most {max, number} characters', { max }),
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });
}

/** Browsers fill a field of a name with it, and names are public. */
export function isMailAddress(text: string): boolean {
  return /^[^\s@/]+@[^\s@/.]+(\.[^\s@/.]+)+$/.test(text);
}

export function mailAddressRefusal(): string {
  return t('Enter a name and not an e-mail address, because everybody sees it.');
}

/** One line. What would change or cover the text around it is left out. */
export function shownText(maximum: number) {
  return z
    .string({ error: () => t('must be text') })
    .transform((value) => containedText(value).trim())
    .pipe(text({ min: 1, max: maximum }))
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), {
      error: () => t('must have no line breaks and no other control characters'),
    })
    .refine((value) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(value), {
      error: () => t('must have a visible character'),
    });
}

export function longText(maximum: number) {
  return z
    .string({ error: () => t('must be text') })
    .transform((value) => value.replace(/\r\n?/g, '\n').trim())
    .pipe(text({ max: maximum }))
    .refine((value) => !/[^\P{Cc}\t\n]/u.test(value), {
      error: () => t('must have no control characters but line breaks'),
    });
}

export const reasonText = z
  .string({ error: () => t('must say why') })
  .transform((value) => value.trim())
  .pipe(text({ max: 500 }))
  .refine((value) => value.length > 0, { error: () => t('must say why') });

/** An additional reason, which is not public. An empty one counts as absent. */
export const optionalReason = z
  .string()
  .optional()
  .transform((value) => value?.trim() || undefined)
  .pipe(text({ max: 500 }).optional());

/** In UTF-16 code units, for schemas of stored documents. A code point has one or two. */
export const LONGEST_REASON = 1_000;
