import type { FastifyReply, FastifyRequest } from 'fastify';
import { CHECKS_A_MINUTE, useCheckAllowance } from '../platform/limits/check-allowance.ts';
import type { Platform } from '../process/platform.ts';
import { userOf } from './access.ts';
import { relative } from './words.ts';

/**
 * Takes one of a user's checks for a form that makes us dial (docs/adr/0021-one-allowance-for-checks.md). Returns
 * null when it was taken; else the sentence of the answer 429, whose `Retry-After` is set.
 */
export function checkTaker(platform: Pick<Platform, 'diagnosisAllowances' | 'clock'>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string | null> => {
    const nextAllowedAt = await useCheckAllowance(platform, userOf(request)._id.toHexString());
    if (!nextAllowedAt) return null;
    const now = platform.clock.now();
    const seconds = Math.ceil((nextAllowedAt.getTime() - now.getTime()) / 1_000);
    reply.header('retry-after', String(Math.max(1, seconds)));
    return `Nothing was changed: settings, resumes, test votes and checks together may be ${CHECKS_A_MINUTE} a minute. Send it again ${relative(nextAllowedAt, now)}.`;
  };
}
