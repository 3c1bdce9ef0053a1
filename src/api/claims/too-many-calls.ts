import type { Refusal } from '../../http/http-errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { secondsUntil } from '../v1/schemas.ts';

/** The refusal of a call with a claim key that was used too often, until `nextAt`. */
export function tooManyCalls(nextAt: Date, clock: Clock): Refusal {
  const next = nextAt.toISOString();
  const seconds = Math.max(1, secondsUntil(nextAt, clock));
  return {
    status: 429,
    code: 'too-many-requests',
    sentence: `This claim key is used too often: the next call is allowed at ${next}.`,
    headers: { 'retry-after': String(seconds) },
    fields: { next_allowed_at: next },
  };
}
