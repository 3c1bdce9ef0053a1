import type { FastifyRequest, preHandlerHookHandler } from 'fastify';
import { describeSkew } from '../platform/clock-skew.ts';
import type { Resources } from '../platform/resources.ts';
import { withinDatabaseTime } from './database-time.ts';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/**
 * Refuses requests while the clock of this process is wrong: votes and reports would be stored with a wrong time, and
 * the cooldown would be wrong (design rule 1).
 */
export function requireRightClock({ clockSkew }: Pick<Resources, 'clockSkew'>): preHandlerHookHandler {
  const refuseWhileOff = async (request: FastifyRequest, measuring: number | Promise<number>) => {
    const skew = await withinDatabaseTime(request, Promise.resolve(measuring));
    if (skew === 0) return;
    request.log.warn({ event: 'clock.off', skewMs: Math.round(skew) }, describeSkew(skew));
    throw new RefusedError(unavailable('clock-wrong', SENTENCES.clock));
  };
  return (request, _reply, done) => {
    const skew = clockSkew();
    return skew === 0 ? done() : refuseWhileOff(request, skew);
  };
}
