import type { DailySums } from './daily-stats.ts';
import type { StatusSample } from './status-sample.ts';

/** A day of which nothing is known. */
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

/** What a sample says for the sums of its day. */
export type SummedSample = Pick<
  StatusSample,
  'seconds' | 'status' | 'reason' | 'onlinePlayers' | 'latencyMs'
>;

/**
 * Adds a sample to the sums of its day, for the seconds it stands for (design, "Periods and figures"). The order
 * in which samples are added does not matter. A sample of 0 seconds counts for the peak alone.
 */
export function addSample(sums: DailySums, sample: SummedSample): void {
  const { seconds, status, reason, onlinePlayers, latencyMs } = sample;
  switch (status) {
    case 'online':
      sums.onlineSeconds += seconds;
      sums.playerSeconds += onlinePlayers * seconds;
      sums.peakPlayers = Math.max(sums.peakPlayers, onlinePlayers);
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
