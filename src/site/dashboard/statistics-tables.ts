import type { ObjectId } from 'mongodb';
import { type HistoryPoint, historyAndReports, uptimeDays } from '../../history/history.ts';
import { DAY } from '../../platform/clock.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { topVoters } from '../../votes/top-voters.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { csv } from '../shared/csv.ts';

/** The maximum number of players in `voters.csv`. */
const MAX_VOTERS = 1_000;

/**
 * The points whose time is at most `days` + 1 days ago. The time of a daily point is the beginning of its day, so of
 * daily points these are the last `days` full UTC days.
 */
export function since(points: HistoryPoint[], now: Date, days: number): HistoryPoint[] {
  return points.filter(({ at }) => now.getTime() - at.getTime() <= (days + 1) * DAY);
}

/** The points from the first one with data to the last one. */
export function withoutEmptyEnds(points: HistoryPoint[]): HistoryPoint[] {
  const hasData = ({ source }: HistoryPoint) => source !== null;
  const first = points.findIndex(hasData);
  return first === -1 ? [] : points.slice(first, points.findLastIndex(hasData) + 1);
}

type Table = (deps: AppDeps, serverId: ObjectId, days: number) => Promise<string>;

/** Returns a function that makes a CSV table with one line per day. `values` returns the cells after the day. */
function dailyTable(
  columns: string[],
  values: (point: HistoryPoint) => (number | null)[],
  of: 'history' | 'reported' = 'history',
): Table {
  return async (deps, serverId, days) => {
    const points = (await historyAndReports(deps, serverId, 'all'))[of]?.points ?? [];
    const rows = since(points, deps.clock.now(), days).map((point) => [
      dayOf(point.at),
      ...values(point).map(rounded),
    ]);
    return csv(['day', ...columns], rows);
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(100 * value) / 100;
}

/** The CSV files by name. Each line is a UTC day or a player. Unknown values are empty cells. */
export const TABLES = {
  'votes.csv': async (deps, serverId, days) => {
    const votes = await votesByDay(deps, serverId, days);
    return csv(
      ['day', 'votes'],
      votes.map(({ day, votes }) => [day, votes]),
    );
  },
  'players.csv': dailyTable(['average_players', 'peak_players'], ({ averagePlayers, peakPlayers }) => [
    averagePlayers,
    peakPlayers,
  ]),
  'latency.csv': dailyTable(['average_latency_ms'], ({ latencyMs }) => [latencyMs]),
  'reported.csv': dailyTable(
    ['average_players', 'peak_players', 'average_latency_ms'],
    ({ averagePlayers, peakPlayers, latencyMs }) => [averagePlayers, peakPlayers, latencyMs],
    'reported',
  ),
  'uptime.csv': async (deps, serverId) => {
    const days = await uptimeDays(deps, serverId);
    return csv(
      ['day', 'online_seconds', 'offline_seconds', 'unknown_seconds'],
      days.map(({ day, onlineSeconds, offlineSeconds, unknownSeconds }) => [
        day,
        ...[onlineSeconds, offlineSeconds, unknownSeconds].map(Math.round),
      ]),
    );
  },
  'voters.csv': async (deps, serverId) => {
    const voters = await topVoters(deps, serverId, MAX_VOTERS);
    return csv(
      ['player', 'votes', 'last_voted_at'],
      voters.map(({ username, votes, lastVotedAt }) => [username, votes, lastVotedAt.toISOString()]),
    );
  },
} satisfies Record<string, Table>;

export function isTableName(name: string): name is keyof typeof TABLES {
  return Object.hasOwn(TABLES, name);
}
