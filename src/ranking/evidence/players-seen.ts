import type { ObjectId, WithId } from 'mongodb';
import { playersHidden, playersSource, STATUS_FIELDS, statusAt } from '../../history/current-status.ts';
import { HIDDEN_PLAYERS, PLAYERS_OF_DAY, USUAL_DAYS, usualPlayers } from '../../history/usual-players.ts';
import { addDays } from '../../platform/periods/period-marks.ts';
import type { Server } from '../../servers/server.ts';
import type { RankingDeps } from '../deps.ts';
import type { PlayersSeen } from './weigh-day.ts';

/** The day itself and so many days before it. */
export const PLAYERS_SEEN_DAYS = 30;

/** The fields from which the current number of players is read. */
export const CURRENT_PLAYERS = {
  'current.onlinePlayers': 1,
  'current.playersHidden': 1,
  'current.playersSource': 1,
  ...STATUS_FIELDS,
} as const;

type Seen = WithId<Pick<Server, 'current' | 'probe' | 'lastReport'>>;

/** `most`: null if no check saw a number. `recent`: the most of each of the `USUAL_DAYS` before. */
type Stored = { _id: ObjectId; most: number | null; recent: number[] };

/**
 * By our checks alone: a server's reports do not count. A server is missing if no check saw a number. `now`: null
 * unless `day` is today, which has no statistics yet: then the current number counts too.
 */
export async function playersSeen(
  { dailyStats }: RankingDeps,
  servers: Seen[],
  day: string,
  now: Date | null,
): Promise<Map<string, PlayersSeen>> {
  const days = { $gte: addDays(day, -PLAYERS_SEEN_DAYS), $lte: day };
  const isRecent = [{ $gte: ['$day', addDays(day, -USUAL_DAYS)] }, { $lt: ['$day', day] }];
  const isKnown = { $ne: ['$players', null] };
  const stored = dailyStats.aggregate<Stored>([
    { $match: { serverId: { $in: servers.map(({ _id }) => _id) }, day: days } },
    { $project: { serverId: 1, day: 1, players: PLAYERS_OF_DAY } },
    {
      $group: {
        _id: '$serverId',
        most: { $max: '$players' },
        recent: { $push: { $cond: [{ $and: [...isRecent, isKnown] }, '$players', '$$REMOVE'] } },
      },
    },
  ]);
  const seen = new Map<string, PlayersSeen>();
  for await (const { _id, most, recent } of stored) {
    if (most !== null) seen.set(_id.toHexString(), { most, usual: usualPlayers(recent) });
  }
  if (!now) return seen;
  for (const server of servers) {
    const id = server._id.toHexString();
    const current = playersNow(server, now);
    const { most, usual } = seen.get(id) ?? { most: 0, usual: 0 };
    if (current !== null) seen.set(id, { most: Math.max(most, current), usual });
  }
  return seen;
}

/**
 * `HIDDEN_PLAYERS` if the server hid it, 0 if our checks found the server offline. Null if no check was answered, or
 * the stored number is from a report.
 */
function playersNow(server: Seen, now: Date): number | null {
  const { probe, current } = server;
  if (!probe.checkedAt) return null;
  if (statusAt({ probe, lastReport: null }, now) === 'offline') return 0;
  if (!probe.succeededAt || playersSource(server) !== 'probes') return null;
  return playersHidden(current) ? HIDDEN_PLAYERS : current.onlinePlayers;
}
