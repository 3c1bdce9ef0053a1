import { z } from 'zod';

/** In UTF-16 code units. */
export const LONGEST_PAGE = 40_000;

export const storedPage = z
  .string()
  .refine((value) => value.trim() !== '', 'must not be empty')
  .max(LONGEST_PAGE, `must have at most ${LONGEST_PAGE.toLocaleString('en')} characters`)
  .regex(/^[\P{Cc}\t\n\r]*$/u, 'must have no control characters');

/** The id of the stored picture, and its size in pixels. */
export type StoredLogo = { id: string; width: number; height: number };

/** The id of a stored picture, its width and its height: `3f6c…09 320 96`. */
export const storedLogo = z.string().transform((value, context): StoredLogo => {
  const [, id = '', width, height] = /^([0-9a-f]{64}) (\d{1,4}) (\d{1,4})$/.exec(value) ?? [];
  if (!(Number(width) > 0 && Number(height) > 0)) {
    context.addIssue('must be the id, width and height of a stored picture');
  }
  return { id, width: Number(width), height: Number(height) };
});
