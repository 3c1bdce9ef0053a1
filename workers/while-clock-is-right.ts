import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../src/platform/clock.ts';
import { describeSkew } from '../src/platform/clock-skew.ts';
import type { Platform } from '../src/process/platform.ts';
import type { Work } from '../src/process/process.ts';

/** How often the clock is compared with mongod's. */
const COMPARED_EVERY_MS = SECOND;

/** Starts work that is to end when the signal is aborted and it is closed. */
type Start = (stopping: AbortSignal) => Work;

/**
 * Does work only while this process's clock agrees with MongoDB's: next attempts, tests of listeners and finished days
 * would be dated wrongly, and BullMQ goes by this machine's clock too. Work is stopped when the clock goes off, as at
 * the end of the process, and started again when it is right. While MongoDB does not answer nothing changes, and nothing
 * is started.
 *
 * @param stopping - aborted when the process begins to stop
 * @throws what `start` throws where the clock is right at once; later that is logged and tried again
 */
export async function whileClockIsRight(
  { clockSkew, log }: Pick<Platform, 'clockSkew' | 'log'>,
  stopping: AbortSignal,
  start: Start,
): Promise<Work> {
  let running: { work: Work; end: AbortController } | undefined;
  let closed: Promise<void> = Promise.resolve();
  let isOff = false;

  /** Compares once MongoDB answers; at once at the end of the process. */
  async function compare(): Promise<void> {
    const skew = await known();
    // What was stopped has ended first.
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
      // Not the comparison under way: MongoDB may take its time.
      stop();
      await closed;
    },
  };
}
