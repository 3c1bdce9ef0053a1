import type { DailySums } from './daily-stats.ts';

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

/** The sums of two parts of a day. */
export function addSums(a: DailySums, b: DailySums): DailySums {
  const names = Object.keys(emptySums()) as (keyof DailySums)[];
  const added = names.map((name) => [
    name,
    name === 'peakPlayers' ? Math.max(a[name], b[name]) : a[name] + b[name],
  ]);
  return Object.fromEntries(added);
}
