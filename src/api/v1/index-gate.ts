import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, unavailable } from '../../process/http-errors.ts';
import { missingUniqueIndexes } from '../../process/indexes.ts';
import type { Platform } from '../../process/platform.ts';
import { withinDatabaseTime } from './database-time.ts';

/**
 * Refuses requests while a unique index is missing: without them a vote could be counted twice (design rule
 * 1). Asks until they are all there, then never again.
 */
export function requireIndexes(app: FastifyInstance, { mongo, log }: Pick<Platform, 'mongo' | 'log'>): void {
  let complete = false;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const missing = await missingUniqueIndexes(mongo.db);
      complete = missing.length === 0;
      if (!complete) log.warn({ event: 'indexes.missing', missing }, 'run `tallyport migrate`');
    } finally {
      asking = undefined;
    }
  }

  async function requireAll(request: FastifyRequest): Promise<void> {
    asking ??= ask();
    await withinDatabaseTime(request, asking);
    if (!complete) {
      throw new RefusedError(unavailable('The database is not prepared yet: try again in a few seconds.'));
    }
  }

  app.addHook('onRequest', (request, _reply, done) => {
    if (complete) return done();
    return requireAll(request);
  });
}
