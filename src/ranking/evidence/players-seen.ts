import type { Collection, ObjectId, WithId } from 'mongodb';
import { playersHidden, playersSource, STATUS_FIELDS, statusAt } from '../../history/current-status.ts';
import type { DailyStats } from '../../history/daily-stats.ts';
import { addDays } from '../../platform/periods/period-marks.ts';
import type { Server } from '../../servers/server.ts';

/** The highest number of players is that of the day itself and of this many days before it. */
export const PLAYER_DAYS = 30;

/** The fields of a server that give its current number of players. */
export const CURRENT_PLAYERS = {
  'current.onlinePlayers': 1,
  'current.playersHidden': 1,
  'current.playersSource': 1,
  ...STATUS_FIELDS,
} as const;

type Seen = WithId<Pick<Server, 'current' | 'probe' | 'lastReport'>>;

/**
 * `peak`: the most players. `visible` and `hidden`: seconds online in which the number of players was visible or hidden.
 * `offline`: seconds offline.
 */
type Peak = { _id: ObjectId; peak: number; visible: number; hidden: number; offline: number };

/**
 * The most players that our checks saw on each server, on a UTC day and the 30 days before. A server's own reports do
 * not count. A server is missing if no check saw a number, because there was no check or the server hides its players.
 *
 * @param now - null unless `day` is today. Then the current number counts too, because today has no statistics yet
 */
export async function playersSeen(
  { dailyStats }: { dailyStats: Collection<DailyStats> },
  servers: Seen[],
  day: string,
  now: Date | null,
): Promise<Map<string, number>> {
  const days = { $gte: addDays(day, -PLAYER_DAYS), $lte: day };
  const hidden = { $ifNull: ['$probes.hiddenSeconds', 0] };
  const peaks = dailyStats.aggregate<Peak>([
    { $match: { serverId: { $in: servers.map(({ _id }) => _id) }, day: days } },
    {
      $group: {
        _id: '$serverId',
        peak: { $max: '$probes.peakPlayers' },
        visible: { $sum: { $subtract: ['$probes.onlineSeconds', hidden] } },
        hidden: { $sum: hidden },
        offline: { $sum: '$probes.offlineSeconds' },
      },
    },
  ]);
  const seen = new Map<string, number>();
  for await (const { _id, peak, visible, hidden, offline } of peaks) {
    // A server that was only offline had no players. A server that hid them while online may have had any number.
    const isEmpty = offline > 0 && hidden === 0;
    if (visible > 0 || isEmpty) seen.set(_id.toHexString(), peak);
  }
  if (!now) return seen;
  for (const server of servers) {
    const id = server._id.toHexString();
    const current = playersNow(server, now);
    if (current !== null) seen.set(id, Math.max(seen.get(id) ?? 0, current));
  }
  return seen;
}

/**
 * The number that our last answered check saw; 0 if our checks found the server offline. Null if no check was answered,
 * the server hides its players, or the stored number is from a report.
 */
function playersNow(server: Seen, now: Date): number | null {
  const { probe, current } = server;
  if (!probe.checkedAt || playersHidden(current)) return null;
  if (statusAt({ probe, lastReport: null }, now) === 'offline') return 0;
  return probe.succeededAt && playersSource(server) === 'probes' ? current.onlinePlayers : null;
}
