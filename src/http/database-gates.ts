import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Collections } from '../database/collections.ts';
import { missingUniqueIndexes } from '../database/indexes.ts';
import { watchRestore } from '../database/unfinished-restore.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
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

const ASKED_EVERY_MS = SECOND;

/** The start waits at most this long for the first check. */
const FIRST_ANSWER_MS = 5 * SECOND;

/**
 * Refuses requests while a restore is unfinished: a vote or a sign-up could be lost or make it fail. No request waits
 * for the checks; if MongoDB does not answer, the last result counts.
 */
export function createRestoreGate(
  app: FastifyInstance,
  deps: Pick<Collections, 'restores'> & Pick<Resources, 'log'>,
): onRequestHookHandler {
  const isRestoring = watchRestore(deps);
  const closing = new AbortController();
  let isOpen = false;

  async function ask(): Promise<void> {
    try {
      isOpen = !(await isRestoring());
    } catch (error) {
      deps.log.debug({ event: 'restore.not_known', reason: String(error) });
    }
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(ASKED_EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      if (!closing.signal.aborted) await ask();
    }
  }

  app.addHook('onReady', async () => {
    // Fastify limits the time of this hook. Until a later check succeeds, requests are refused.
    await within(FIRST_ANSWER_MS, ask()).catch(() => undefined);
    void watch();
  });
  app.addHook('onClose', async () => closing.abort());
  return (_request, _reply, done) => {
    if (!isOpen) throw new RefusedError(unavailable('database-not-ready', SENTENCES.notReady));
    done();
  };
}
