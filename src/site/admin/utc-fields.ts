import { z } from 'zod';

/** A moment as a `datetime-local` field has it, to the minute, in UTC: `2026-11-21T14:02`. */
export function minuteOf(at: Date): string {
  return at.toISOString().slice(0, 16);
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/;

/** The same read back; a day alone is its beginning. Browsers leave the zone out: it is always UTC here. */
export const utcMoment = z
  .string()
  .refine((text) => MOMENT.test(text) && !Number.isNaN(Date.parse(asUtc(text))), {
    error: 'must be a time such as 2026-11-21T14:02',
  })
  .transform((text) => new Date(asUtc(text)));

function asUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : `${text}T00:00Z`;
}
