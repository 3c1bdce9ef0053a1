import type { FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { CHECKS, useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { userOf } from '../guard-routes.ts';
import { type RefusedForm, refused } from './form-route.ts';

/** The `check` of a form that makes Tallyport connect to a server (docs/adr/0021-one-allowance-for-checks.md). */
export function checkTaker(deps: AppDeps) {
  return async (request: FastifyRequest): Promise<RefusedForm | null> => {
    const retryAt = await useCheckAllowance(deps, userOf(request)._id.toHexString());
    if (!retryAt) return null;
    const sentence = t(
      'Nothing was saved: you can change settings, resume, test and check {times} times a minute in total.',
      { times: CHECKS.times },
    );
    return refused(429, sentence, retryAt);
  };
}
