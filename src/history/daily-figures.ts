import type { Collection, Document, ObjectId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import { sourceAt } from './current-status.ts';
import type { DailyStats } from './daily-stats.ts';
import { inSlices, type SliceOptions } from './server-slices.ts';
import { PLAYERS_OF_DAY, usualPlayersOf } from './usual-players.ts';

type FigureDeps = { servers: Collection<Server>; dailyStats: Collection<DailyStats>; clock: Clock };

/** The figures of players cover the 7 whole days before today; latency and uptime cover the 30 days before today. */
export const PLAYER_DAYS = 7;
export const UPTIME_DAYS = 30;

/** `a ÷ b`; `none` if b is 0. */
const ratio = (a: unknown, b: unknown, none: unknown) => ({
  $cond: [{ $gt: [b, 0] }, { $divide: [a, b] }, none],
});

/**
 * Within the database, from the daily stats: averages, peak, latency and uptime of the current source, and by probes
 * alone the usual players and the uptime. Unknown values become 0 or null (see `info` in the OpenAPI document). The
 * figures change every day, even without new samples.
 *
 * @throws the signal's reason when it is aborted
 */
export async function refreshDailyFigures(deps: FigureDeps, options: SliceOptions = {}): Promise<void> {
  const now = deps.clock.now();
  await inSlices(deps, options, async (slice) => {
    const reporting = slice.filter((server) => sourceAt(server, now) === 'reports').map(({ _id }) => _id);
    const ids = slice.map(({ _id }) => _id);
    await deps.servers
      .aggregate([
        { $match: { _id: { $in: ids } } },
        ...figures(deps.dailyStats.collectionName, dayOf(now), reporting),
        { $merge: { into: deps.servers.collectionName, whenMatched: 'merge', whenNotMatched: 'discard' } },
      ])
      .toArray();
  });
}

function figures(dailyStats: string, today: string, reporting: ObjectId[]): Document[] {
  return [
    { $project: { source: { $cond: [{ $in: ['$_id', reporting] }, 'reports', 'probes'] } } },
    {
      $lookup: {
        from: dailyStats,
        localField: '_id',
        foreignField: 'serverId',
        let: { source: '$source' },
        pipeline: [
          { $match: { day: { $gte: addDays(today, -UPTIME_DAYS), $lt: today } } },
          {
            $set: {
              own: { $cond: [{ $eq: ['$$source', 'reports'] }, '$reports', '$probes'] },
              isRecent: { $gte: ['$day', addDays(today, -PLAYER_DAYS)] },
            },
          },
          { $group: SUMS },
        ],
        as: 'sums',
      },
    },
    { $set: { sums: { $first: '$sums' } } },
    { $project: { daily: { ...FIGURES, players: playersByDay(today) } } },
  ];
}

const recent = (sum: string) => ({ $sum: { $cond: ['$isRecent', `$own.${sum}`, 0] } });

/** Online with a known number of players. */
const VISIBLE_SECONDS = { $subtract: ['$own.onlineSeconds', { $ifNull: ['$own.hiddenSeconds', 0] }] };

const SUMS: Document = {
  _id: null,
  playerSeconds: recent('playerSeconds'),
  recentSeconds: { $sum: { $cond: ['$isRecent', VISIBLE_SECONDS, 0] } },
  peakPlayers: { $max: { $cond: ['$isRecent', '$own.peakPlayers', 0] } },
  latencySum: { $sum: '$own.latencySum' },
  latencySeconds: { $sum: '$own.latencySeconds' },
  online: { $sum: '$own.onlineSeconds' },
  offline: { $sum: '$own.offlineSeconds' },
  probedOnline: { $sum: '$probes.onlineSeconds' },
  probedOffline: { $sum: '$probes.offlineSeconds' },
  days: {
    $push: {
      day: '$day',
      players: ratio('$own.playerSeconds', VISIBLE_SECONDS, null),
      seen: { $cond: ['$isRecent', PLAYERS_OF_DAY, null] },
    },
  },
};

/** Oldest first. Null if the server was never online with a visible number on that day. */
function playersByDay(today: string): Document[] {
  return Array.from({ length: PLAYER_DAYS }, (_, i) => {
    const day = addDays(today, i - PLAYER_DAYS);
    const known = { $filter: { input: { $ifNull: ['$sums.days', []] }, cond: { $eq: ['$$this.day', day] } } };
    const players = { $first: { $map: { input: known, in: '$$this.players' } } };
    return { $ifNull: [{ $round: [players, 1] }, null] };
  });
}

const percentage = (online: string, offline: string) =>
  ratio({ $multiply: [100, online] }, { $add: [online, offline] }, null);

const FIGURES: Document = {
  averagePlayers: ratio('$sums.playerSeconds', '$sums.recentSeconds', 0),
  peakPlayers: { $ifNull: ['$sums.peakPlayers', 0] },
  averageLatency: ratio('$sums.latencySum', '$sums.latencySeconds', null),
  uptimePercentage: percentage('$sums.online', '$sums.offline'),
  probedUptime: percentage('$sums.probedOnline', '$sums.probedOffline'),
  usualPlayers: usualPlayersOf({
    $filter: { input: { $ifNull: ['$sums.days.seen', []] }, cond: { $ne: ['$$this', null] } },
  }),
};
