import type { FastifyRequest } from 'fastify';
import { type Text, t } from '../../language/t.ts';
import { countUse, type Whose } from '../../platform/limits/by-network.ts';
import { CHECKS, useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { Limit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { type RefusedForm, refused } from './form-route.ts';

type ShownLimit = Limit & { of: string; sentence: Text };

/** @throws {PageError} 429 with the limit's sentence if it is used up */
export async function throwIfUsedUp<L extends ShownLimit>(
  deps: AppDeps,
  limit: L,
  whose: Whose<L>,
): Promise<void> {
  const retryAt = await countUse(deps, limit, whose);
  if (retryAt) throw new PageError(429, t(limit.sentence), retryAt);
}

export async function refuseIfUsedUp<L extends ShownLimit>(
  deps: AppDeps,
  limit: L,
  whose: Whose<L>,
): Promise<RefusedForm | null> {
  const retryAt = await countUse(deps, limit, whose);
  return retryAt && refused(429, t(limit.sentence), retryAt);
}

/** Counts the checks that forms cause, for all of them together (docs/adr/0021-one-allowance-for-checks.md). */
export function checkTaker(deps: AppDeps) {
  return async (request: FastifyRequest): Promise<RefusedForm | null> => {
    const retryAt = await useCheckAllowance(deps, userOf(request)._id.toHexString());
    if (!retryAt) return null;
    return refused(429, tooManyChecks(), retryAt);
  };
}

export function tooManyChecks(): string {
  return t(
    'Nothing was saved: you can change settings, resume, test and check {times} times a minute in total.',
    { times: CHECKS.times },
  );
}
