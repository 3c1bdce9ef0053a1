import { setTimeout as pause } from 'node:timers/promises';
import { watchRestore } from '../src/database/unfinished-restore.ts';
import { SECOND } from '../src/platform/clock.ts';
import { describeSkew } from '../src/platform/clock-skew.ts';
import type { Logger } from '../src/platform/log.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Work } from '../src/process/process.ts';

const CHECKED_EVERY_MS = SECOND;

/** To stop the work, the caller first aborts `stopping` and then calls its `close`. */
type Start = (stopping: AbortSignal) => Work;

/**
 * Runs work only while this process's clock agrees with mongod's and no restore is unfinished. With a wrong clock,
 * attempts, tests and finished days would get wrong times; BullMQ uses this machine's clock too. During a restore,
 * periodic work would delete and correct data that is incomplete. While MongoDB does not answer, nothing is stopped or
 * started.
 *
 * @throws the error of the first `start`; a later one is logged, and the start is tried again
 */
export async function whileWorkIsSafe(
  { clockSkew, restores, log }: Pick<AppDeps, 'clockSkew' | 'restores' | 'log'>,
  stopping: AbortSignal,
  start: Start,
): Promise<Work> {
  let running: { work: Work; end: AbortController } | undefined;
  let closed: Promise<void> = Promise.resolve();
  const isRestoring = watchRestore({ restores, log });
  const noteSkew = logSkew(log);

  /** Waits until MongoDB answers, or returns at once when the process stops. */
  async function check(): Promise<void> {
    const isSafe = await known();
    // If work was stopped, it must be closed before it can start again.
    await closed;
    if (stopping.aborted || isSafe === undefined) return;
    if (isSafe && !running) {
      const end = new AbortController();
      running = { work: start(AbortSignal.any([stopping, end.signal])), end };
    } else if (!isSafe && running) stop();
  }

  async function known(): Promise<boolean | undefined> {
    while (!stopping.aborted) {
      try {
        const [skew, restoring] = await Promise.all([clockSkew(), isRestoring()]);
        noteSkew(skew);
        return skew === 0 && !restoring;
      } catch (error) {
        log.warn({ event: 'database.not_checked', reason: String(error) });
        await untilNextTime();
      }
    }
    return undefined;
  }

  const untilNextTime = () => pause(CHECKED_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);

  function stop(): void {
    running?.end.abort();
    closed = (running?.work.close() ?? closed).catch((error: unknown) =>
      log.error({ event: 'process.stop_failed', error: String(error) }),
    );
    running = undefined;
  }

  async function watch(): Promise<void> {
    while (!stopping.aborted) {
      await untilNextTime();
      await check().catch((error: unknown) =>
        log.error({ event: 'process.not_resumed', error: String(error) }, 'the work is tried again'),
      );
    }
  }

  await check();
  void watch();
  return {
    async close() {
      // A running check is not awaited, because MongoDB may be slow.
      stop();
      await closed;
    },
  };
}

function logSkew(log: Logger): (skew: number) => void {
  let wasOff = false;
  return (skew) => {
    const isOff = skew !== 0;
    if (isOff && !wasOff) log.warn({ event: 'clock.off', skewMs: Math.round(skew) }, describeSkew(skew));
    if (!isOff && wasOff) log.info({ event: 'clock.right' }, 'the clock is right');
    wasOff = isOff;
  };
}
