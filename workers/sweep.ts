import { setTimeout as pause } from 'node:timers/promises';
import { sweepDueWork } from '../src/delivery/sweep.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** Intervals vary randomly by a fifth, so that many workers do not query MongoDB at the same moment. */
const JITTER = 0.2;

/**
 * Runs the sweep (design rule 2) every `RELAY_INTERVAL_MS` until `stopping` is aborted. If a sweep fails, the next one
 * still follows.
 */
export async function runSweep(deps: AppDeps, stopping: AbortSignal): Promise<void> {
  const { log, config } = deps;
  while (!stopping.aborted) {
    try {
      const { woken, expired, removed } = await sweepDueWork(deps);
      if (woken + expired + removed > 0)
        log.info({ event: 'relay.round', woken, expired, released: removed });
    } catch (error) {
      log.warn({ event: 'relay.failed', reason: String(error) });
    }
    const wait = config.RELAY_INTERVAL_MS * (1 - JITTER + 2 * JITTER * Math.random());
    await pause(wait, undefined, { signal: stopping }).catch(() => undefined);
  }
}
