import type { DailySums } from './daily-stats.ts';

/** The sums of a day without data. */
export function emptySums(): Required<Omit<DailySums, 'hiddenSeconds'>> {
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

/** The sums of two parts of a day. */
export function addSums(a: DailySums, b: DailySums): DailySums {
  const names = Object.keys(emptySums()) as (keyof ReturnType<typeof emptySums>)[];
  const added = names.map((name) => [
    name,
    name === 'peakPlayers' ? Math.max(a[name], b[name]) : a[name] + b[name],
  ]);
  const hiddenSeconds = (a.hiddenSeconds ?? 0) + (b.hiddenSeconds ?? 0);
  return { ...Object.fromEntries(added), ...(hiddenSeconds > 0 ? { hiddenSeconds } : {}) };
}
