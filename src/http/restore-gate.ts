import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { Collections } from '../database/collections.ts';
import { watchRestore } from '../database/unfinished-restore.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { Resources } from '../platform/resources.ts';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/** The time between two checks of the database for an unfinished restore. */
const ASKED_EVERY_MS = SECOND;

/** The start of the application waits at most this long for the result of the first check. */
const FIRST_ANSWER_MS = 5 * SECOND;

/**
 * Returns a hook that refuses requests while a restore into the database is unfinished: otherwise, a vote or a sign-up
 * could be lost or make the restore fail. The checks run in the background, so no request waits for them. If MongoDB
 * does not answer, the result of the last check counts.
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
    // Fastify limits the time of this hook. If MongoDB takes longer, requests are refused until a later check succeeds.
    await within(FIRST_ANSWER_MS, ask()).catch(() => undefined);
    void watch();
  });
  app.addHook('onClose', async () => closing.abort());
  return (_request, _reply, done) => {
    if (!isOpen) throw new RefusedError(unavailable('database-not-ready', SENTENCES.notReady));
    done();
  };
}
