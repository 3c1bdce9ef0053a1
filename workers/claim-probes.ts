import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../src/platform/clock.ts';
import { claimDueServers } from '../src/probing/claim-due.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** New servers must be probed within 10 s, so due servers are claimed more often than cron allows. */
export const CLAIM_ROUND_MS = SECOND;

/**
 * Claims due servers every second until `stopping` is aborted. After a failed round the next one follows.
 */
export async function claimProbes(deps: AppDeps, stopping: AbortSignal): Promise<void> {
  const { log, config } = deps;
  if (config.PROBES === 'off') return;
  while (!stopping.aborted) {
    try {
      const claimed = await claimDueServers(deps);
      if (claimed > 0) log.debug({ event: 'probe.claimed', claimed });
    } catch (error) {
      log.warn({ event: 'probe.not_claimed', reason: String(error) });
    }
    await pause(CLAIM_ROUND_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
