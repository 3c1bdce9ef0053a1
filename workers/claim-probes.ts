import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../src/platform/clock.ts';
import { claimDueServers } from '../src/probing/claim-due.ts';
import type { Platform } from '../src/process/platform.ts';

/** A new server is asked within 10 s, so due servers are looked for far more often than cron could. */
export const CLAIM_ROUND_MS = SECOND;

/**
 * Claims due servers again and again until `stopping` is aborted. A round that fails is followed by the next one.
 */
export async function claimProbes(platform: Platform, stopping: AbortSignal): Promise<void> {
  const { log, config } = platform;
  if (config.PROBES === 'off') return;
  while (!stopping.aborted) {
    try {
      const claimed = await claimDueServers(platform);
      if (claimed > 0) log.debug({ event: 'probe.claimed', claimed });
    } catch (error) {
      log.warn({ event: 'probe.not_claimed', reason: String(error) });
    }
    await pause(CLAIM_ROUND_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
