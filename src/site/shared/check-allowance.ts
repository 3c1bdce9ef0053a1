import type { FastifyReply, FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { CHECKS_A_MINUTE, useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { userOf } from '../access.ts';
import { relative } from './format.ts';

/**
 * Takes one check from a user's allowance, for forms that make us connect to a server
 * (docs/adr/0021-one-allowance-for-checks.md). Returns null on success; otherwise the message of the answer 429, and
 * sets its `Retry-After`.
 */
export function checkTaker(deps: Pick<AppDeps, 'diagnosisAllowances' | 'clock'>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string | null> => {
    const nextAllowedAt = await useCheckAllowance(deps, userOf(request)._id.toHexString());
    if (!nextAllowedAt) return null;
    const now = deps.clock.now();
    const seconds = Math.ceil((nextAllowedAt.getTime() - now.getTime()) / 1_000);
    reply.header('retry-after', String(Math.max(1, seconds)));
    return t(
      'Nothing was saved: you can change settings, resume, test and check {times} times a minute in total. Try again {when}.',
      { times: CHECKS_A_MINUTE, when: relative(nextAllowedAt, now) },
    );
  };
}
