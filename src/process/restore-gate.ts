import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { SECOND } from '../platform/clock.ts';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';
import type { Platform } from './platform.ts';
import { watchRestore } from './unfinished-restore.ts';

/** How often the database is asked. */
const ASKED_EVERY_MS = SECOND;

/**
 * Makes a hook that refuses requests while a restore into the database has not ended: a vote or a sign-up would be lost
 * or make the restore fail. It asks the database while `app` runs, so no request waits for the answer. While MongoDB
 * does not answer, the last answer counts.
 */
export function createRestoreGate(
  app: FastifyInstance,
  platform: Pick<Platform, 'restores' | 'log'>,
): onRequestHookHandler {
  const isRestoring = watchRestore(platform);
  const closing = new AbortController();
  let isOpen = false;

  async function ask(): Promise<void> {
    try {
      isOpen = !(await isRestoring());
    } catch (error) {
      platform.log.debug({ event: 'restore.not_known', reason: String(error) });
    }
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await ask();
      await pause(ASKED_EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  // The application is ready before the first answer: MongoDB may take longer than a hook may.
  app.addHook('onReady', async () => void watch());
  app.addHook('onClose', async () => closing.abort());
  return (_request, _reply, done) => {
    if (!isOpen) throw new RefusedError(unavailable('database-not-ready', SENTENCES.notReady));
    done();
  };
}
