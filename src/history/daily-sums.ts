import type { DailySums } from './daily-stats.ts';
import type { StatusSample } from './status-sample.ts';

/** The sums of a day without data. */
export function emptySums(): DailySums {
  return {
    onlineSeconds: 0,
    offlineSeconds: 0,
    unconfirmedSeconds: 0,
    canarySeconds: 0,
    playerSeconds: 0,
    latencySum: 0,
    latencySeconds: 0,
    peakPlayers: 0,
  };
}

/** The fields of a sample that the sums use. */
export type SummedSample = Pick<
  StatusSample,
  'seconds' | 'status' | 'reason' | 'onlinePlayers' | 'latencyMs'
>;

/**
 * Adds a sample to the sums of its day, weighted by its seconds (docs/architecture.md). The order of samples
 * does not matter. A sample of 0 seconds counts only for the peak.
 */
export function addSample(sums: DailySums, sample: SummedSample): void {
  const { seconds, status, reason, onlinePlayers, latencyMs } = sample;
  switch (status) {
    case 'online':
      sums.onlineSeconds += seconds;
      if (onlinePlayers === null || onlinePlayers === undefined) {
        sums.hiddenSeconds = (sums.hiddenSeconds ?? 0) + seconds;
      } else {
        sums.playerSeconds += onlinePlayers * seconds;
        sums.peakPlayers = Math.max(sums.peakPlayers, onlinePlayers);
      }
      if (latencyMs !== null && latencyMs !== undefined) {
        sums.latencySum += latencyMs * seconds;
        sums.latencySeconds += seconds;
      }
      break;
    case 'offline':
      sums.offlineSeconds += seconds;
      break;
    case 'unknown':
      if (reason === 'canary') sums.canarySeconds += seconds;
      else sums.unconfirmedSeconds += seconds;
  }
}
