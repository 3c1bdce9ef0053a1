import { ObjectId } from 'mongodb';
import { z } from 'zod';
import type { Clock } from '../platform/clock.ts';
import { isId } from '../servers/slug.ts';

export const OBJECT_ERROR = { error: 'it is not a JSON object' };

export const serverIdField = z
  .string({ error: 'must be 24 lower-case hex digits' })
  .refine(isId, { error: 'must be 24 lower-case hex digits' })
  .transform((text) => new ObjectId(text));

/** An earlier time is a mistake, such as seconds that were read as milliseconds, or an empty field as 0. */
const EARLIEST = new Date('2000-01-01T00:00:00.000Z');

/** ISO 8601 with an offset, to the millisecond. */
export function pastMoment(clock: Clock) {
  return z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-11-21T08:00:00.000Z' })
    .transform((text) => new Date(text))
    .refine((at) => at >= EARLIEST, { error: 'must not be before the year 2000' })
    .refine((at) => at <= clock.now(), { error: 'must not be in the future' });
}
