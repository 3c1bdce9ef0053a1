/**
 * The rules of design, "Periods and figures", as a slow calculation second by second: the results of the database
 * are compared with it.
 */

import type { Source } from '../../src/history/current-status.ts';
import type { DailySums } from '../../src/history/daily-stats.ts';
import type { StatusSample } from '../../src/history/status-sample.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { addDays, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { NOTHING } from './samples.ts';

export type ReferenceDay = Record<Source, DailySums>;

/** A day from a server's whole history, in any order; every time is a whole second. */
export function referenceDay(samples: StatusSample[], day: string): ReferenceDay {
  return { probes: probedDay(samples, day), reports: reportedDay(samples, day) };
}

function isIn(day: string, at: Date): boolean {
  return at.toISOString().startsWith(day);
}

function probedDay(samples: StatusSample[], day: string): DailySums {
  const made = samples.filter(({ source, at }) => source === 'probe' && isIn(day, at));
  const seconds = (of: StatusSample[]) => of.reduce((sum, sample) => sum + sample.seconds, 0);
  const total = seconds(made);
  const fit = total > 86_400 ? 86_400 / total : 1;
  const online = made.filter(({ status }) => status === 'online');
  const visible = online.flatMap(({ seconds, onlinePlayers: players }) =>
    typeof players === 'number' ? { seconds, players } : [],
  );
  const hidden = fit * (seconds(online) - visible.reduce((sum, sample) => sum + sample.seconds, 0));
  const timed = online.filter(({ latencyMs }) => latencyMs !== null);
  const unknown = made.filter(({ status }) => status === 'unknown');
  return {
    onlineSeconds: fit * seconds(online),
    offlineSeconds: fit * seconds(made.filter(({ status }) => status === 'offline')),
    unconfirmedSeconds: fit * seconds(unknown.filter(({ reason }) => reason === 'unconfirmed')),
    canarySeconds: fit * seconds(unknown.filter(({ reason }) => reason === 'canary')),
    ...(hidden > 0 ? { hiddenSeconds: hidden } : {}),
    playerSeconds: fit * visible.reduce((sum, { seconds, players }) => sum + seconds * players, 0),
    latencySum: fit * timed.reduce((sum, sample) => sum + sample.seconds * Number(sample.latencyMs), 0),
    latencySeconds: fit * seconds(timed),
    peakPlayers: Math.max(0, ...visible.map(({ players }) => players)),
  };
}

function reportedDay(samples: StatusSample[], day: string): DailySums {
  const reports = samples
    .filter(({ source }) => source === 'report')
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const peaks = reports.filter(({ at }) => isIn(day, at)).map(({ onlinePlayers }) => onlinePlayers ?? 0);
  // Plain numbers in the loop: it runs 86,400 times.
  const times = reports.map(({ at }) => at.getTime() / SECOND);
  const counts = reports.map(({ onlinePlayers }) => onlinePlayers ?? 0);
  const latencies = reports.map(({ latencyMs }) => latencyMs ?? NaN);
  let [online, offline, players, latencySum, latencySeconds, newest] = [0, 0, 0, 0, 0, -1];
  const start = startOfDay(day).getTime() / SECOND;
  for (let second = start; second < start + 86_400; second++) {
    while (newest + 1 < times.length && (times[newest + 1] as number) <= second) newest++;
    if (newest < 0) continue;
    const age = second - (times[newest] as number);
    if (age < 15 * 60) {
      online++;
      players += counts[newest] as number;
      const latency = latencies[newest] as number;
      if (!Number.isNaN(latency)) {
        latencySum += latency;
        latencySeconds++;
      }
    } else if (newest + 1 < times.length && age < 7 * 86_400) {
      offline++;
    }
  }
  return {
    ...NOTHING,
    peakPlayers: Math.max(0, ...peaks),
    onlineSeconds: online,
    offlineSeconds: offline,
    playerSeconds: players,
    latencySum,
    latencySeconds,
  };
}

export type ReferenceFigures = {
  averagePlayers: number;
  peakPlayers: number;
  averageLatency: number | null;
  uptimePercentage: number | null;
  probedUptime: number | null;
};

/** The figures of `today` from the days before it. */
export function referenceFigures(
  days: Map<string, ReferenceDay>,
  today: string,
  source: Source,
): ReferenceFigures {
  const before = (count: number, of: Source) =>
    [...days].filter(([day]) => day < today && day >= addDays(today, -count)).map(([, both]) => both[of]);
  const total = (of: DailySums[], sum: keyof DailySums) => of.reduce((all, day) => all + (day[sum] ?? 0), 0);
  const uptime = (of: DailySums[]) => {
    const online = total(of, 'onlineSeconds');
    const judged = online + total(of, 'offlineSeconds');
    return judged === 0 ? null : (100 * online) / judged;
  };
  const week = before(7, source);
  const month = before(30, source);
  const timed = total(month, 'latencySeconds');
  return {
    averagePlayers:
      total(week, 'playerSeconds') / (total(week, 'onlineSeconds') - total(week, 'hiddenSeconds') || 1),
    peakPlayers: Math.max(0, ...week.map(({ peakPlayers }) => peakPlayers)),
    averageLatency: timed === 0 ? null : total(month, 'latencySum') / timed,
    uptimePercentage: uptime(month),
    probedUptime: uptime(before(30, 'probes')),
  };
}
