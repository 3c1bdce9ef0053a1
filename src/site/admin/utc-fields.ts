import { z } from 'zod';

/** A UTC time for a `datetime-local` field, to the minute: `2026-11-21T14:02`. */
export function utcFieldValue(at: Date): string {
  return at.toISOString().slice(0, 16);
}

/** The error of `utcMoment` and `optionalUtcMoment`. */
const RULE = 'must be a time such as 2026-11-21T14:02';

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/;

/** Parses the value of a `datetime-local` field as UTC. If it is a day without a time: the start of the day. */
export const utcMoment = z
  .string()
  .refine((text) => MOMENT.test(text) && !Number.isNaN(Date.parse(asUtc(text))), {
    error: RULE,
  })
  .transform((text) => new Date(asUtc(text)));

/** As `utcMoment`, for an optional field. If the field is empty: null. */
export const optionalUtcMoment = z.union([z.literal('').transform(() => null), utcMoment], RULE);

function asUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : `${text}T00:00Z`;
}
