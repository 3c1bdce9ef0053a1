import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../src/platform/clock.ts';
import { describeSkew } from '../src/platform/clock-skew.ts';
import type { Platform } from '../src/process/platform.ts';
import type { Work } from '../src/process/process.ts';

/** How often the clock is compared with mongod's. */
const COMPARED_EVERY_MS = SECOND;

/** Starts work that stops when the signal is aborted and it is closed. */
type Start = (stopping: AbortSignal) => Work;

/**
 * Runs work only while this process's clock agrees with MongoDB's: with a wrong clock, attempts, tests of listeners and
 * finished days would get wrong dates, and BullMQ uses this machine's clock too. The work is stopped when the clock is
 * off and started again when it is right. While MongoDB does not answer, nothing is stopped or started.
 *
 * @param stopping - aborted when the process begins to stop
 * @throws the error of the first `start`; errors of later starts are logged and retried
 */
export async function whileClockIsRight(
  { clockSkew, log }: Pick<Platform, 'clockSkew' | 'log'>,
  stopping: AbortSignal,
  start: Start,
): Promise<Work> {
  let running: { work: Work; end: AbortController } | undefined;
  let closed: Promise<void> = Promise.resolve();
  let isOff = false;

  /** Compares the clocks as soon as MongoDB answers; returns at once when the process stops. */
  async function compare(): Promise<void> {
    const skew = await known();
    // Stopped work must be closed first.
    await closed;
    if (stopping.aborted || skew === undefined) return;
    if (skew === 0 && !running) {
      const end = new AbortController();
      running = { work: start(AbortSignal.any([stopping, end.signal])), end };
      if (isOff) log.info({ event: 'clock.right' }, 'the clock is right: work goes on');
      isOff = false;
    } else if (skew !== 0 && !isOff) {
      isOff = true;
      log.warn({ event: 'clock.off', skewMs: Math.round(skew) }, describeSkew(skew));
      stop();
    }
  }

  async function known(): Promise<number | undefined> {
    while (!stopping.aborted) {
      try {
        return await clockSkew();
      } catch (error) {
        log.warn({ event: 'clock.not_compared', reason: String(error) });
        await untilNextTime();
      }
    }
    return undefined;
  }

  const untilNextTime = () =>
    pause(COMPARED_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);

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
      await compare().catch((error: unknown) =>
        log.error({ event: 'process.not_resumed', error: String(error) }, 'the work is tried again'),
      );
    }
  }

  await compare();
  void watch();
  return {
    async close() {
      // The comparison under way is not awaited: MongoDB may be slow.
      stop();
      await closed;
    },
  };
}
