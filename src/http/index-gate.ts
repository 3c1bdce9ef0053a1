import type { FastifyInstance, FastifyRequest } from 'fastify';
import { missingUniqueIndexes } from '../database/indexes.ts';
import type { Resources } from '../platform/resources.ts';
import { withinDatabaseTime } from './database-time.ts';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/**
 * A vote could be counted twice while a unique index is missing (design rule 1). Once all exist, they are not checked
 * any more.
 */
export function requireIndexes(app: FastifyInstance, { mongo, log }: Pick<Resources, 'mongo' | 'log'>): void {
  let complete = false;
  let checking: Promise<void> | undefined;

  async function check(): Promise<void> {
    try {
      const missing = await missingUniqueIndexes(mongo.db);
      complete = missing.length === 0;
      if (!complete) log.warn({ event: 'indexes.missing', missing }, 'run `tallyport migrate`');
    } finally {
      checking = undefined;
    }
  }

  async function requireAll(request: FastifyRequest): Promise<void> {
    checking ??= check();
    await withinDatabaseTime(request, checking);
    if (!complete) {
      throw new RefusedError(unavailable('database-not-ready', SENTENCES.notReady));
    }
  }

  app.addHook('onRequest', (request, _reply, done) => {
    if (complete) return done();
    return requireAll(request);
  });
}
