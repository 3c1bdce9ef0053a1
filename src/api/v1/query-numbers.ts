import { z } from 'zod';

/**
 * The schema of a query parameter that is a whole number from 1 to `most`. If the parameter is empty or absent, the
 * number is `fallback`. Any other text is refused.
 */
export function queryNumber({
  most,
  fallback,
  description,
}: {
  most: number;
  fallback: number;
  description: string;
}) {
  const error = `must be a whole number, 1 to ${most}`;
  return z
    .string({ error })
    .regex(/^\d{0,15}$/, { error, abort: true })
    .transform((digits) => (digits === '' ? fallback : Number(digits)))
    .refine((value) => value >= 1 && value <= most, { error })
    .optional()
    .transform((value) => value ?? fallback)
    .meta({ type: 'integer', minimum: 1, maximum: most, default: fallback, description });
}
