import type { FastifyInstance } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import { FILE } from './route-options.ts';

/**
 * The time of this process in milliseconds, for scripts that show waiting times (`scripts/theme.js`). It is no part of
 * the pages, because browsers and proxies keep these for up to 70 seconds. It costs as little as a file.
 */
export function serverTime(app: FastifyInstance, { clock }: { clock: Clock }): void {
  app.get('/time', FILE, (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type('text/plain; charset=utf-8')
      .send(String(clock.now().getTime())),
  );
}
