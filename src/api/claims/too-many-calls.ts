import { type Refusal, RefusedError } from '../../http/http-errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type AuthenticatedToken, kindOf } from '../../servers/api-token.ts';
import type { ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { secondsUntil } from '../v1/schemas.ts';

/**
 * Counts a call with a claim key, and refuses it if there were too many. API tokens have no such limit.
 *
 * @param cost - how many calls it counts as: 1 by default, `LIST_COST` for a call with `object=servers`
 * @throws {RefusedError} 429 if the key was used too often
 */
export function limitClaimKey(
  { claimCalls, clock }: AppDeps & { claimCalls: ClaimCalls },
  { token }: AuthenticatedToken,
  cost?: number,
): void {
  const nextAt = kindOf(token) === 'claim' ? claimCalls(token, cost) : null;
  if (nextAt) throw new RefusedError(tooManyCalls(nextAt, clock));
}

function tooManyCalls(nextAt: Date, clock: Clock): Refusal {
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
