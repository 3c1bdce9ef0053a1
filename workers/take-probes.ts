import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../src/platform/clock.ts';
import { takeDueServers } from '../src/probing/take-due-probes.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** How often due probes are taken. A new server must be probed within 10 s; a cron expression has steps of a minute. */
export const TAKE_ROUND_MS = SECOND;

/**
 * Takes due probes every second until `stopping` is aborted. If a take fails, the next one still follows. If `PROBES`
 * is `off`, takes none.
 */
export async function takeProbes(deps: AppDeps, stopping: AbortSignal): Promise<void> {
  const { log, config } = deps;
  if (config.PROBES === 'off') return;
  while (!stopping.aborted) {
    try {
      const taken = await takeDueServers(deps);
      if (taken > 0) log.debug({ event: 'probe.claimed', taken });
    } catch (error) {
      log.warn({ event: 'probe.not_claimed', reason: String(error) });
    }
    await pause(TAKE_ROUND_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
