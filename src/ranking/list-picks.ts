import type { ObjectId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import type { RankingDeps } from './deps.ts';
import { type ListedRow, listedRows, NEWCOMER_DAYS } from './listed-rows.ts';
import type { ListingSummary, Picks } from './ranked-list.ts';

/** Further below, a few votes move a server by many ranks. */
const MOST_COMPARED = 200;
const PICKED = 3;
export const RISING_DAYS = 7;

/** One value for each place, the best rank first. `players`: -1 if the server is not online. */
export type PickFigures = { ids: ObjectId[]; votes: number[]; players: number[]; newest: number[] };

/** Computed with the lists, so that the home page reads only the servers. Makes one query by index. */
export async function pickServers(
  { rankSnapshots, clock }: Pick<RankingDeps, 'rankSnapshots' | 'clock'>,
  { ids, votes, players, newest }: PickFigures,
): Promise<Picks> {
  const now = clock.now();
  const since = after(now, -NEWCOMER_DAYS * DAY).getTime();
  const playersAt = (place: number) => players[place] ?? -1;
  const newcomers = ids
    .map((_, place) => place)
    .filter((place) => (newest[place] ?? 0) > since && playersAt(place) > 0)
    .toSorted((a, b) => playersAt(b) - playersAt(a) || a - b);
  const day = addDays(dayOf(now), -RISING_DAYS);
  const compared = ids.slice(0, MOST_COMPARED);
  const field = day.slice(8);
  const snapshots = await rankSnapshots
    .find({ serverId: { $in: compared }, month: day.slice(0, 7) })
    .project<{ serverId: ObjectId; days: Record<string, number> }>({ serverId: 1, [`days.${field}`]: 1 })
    .toArray();
  const before = new Map(snapshots.map(({ serverId, days }) => [serverId.toHexString(), days[field]]));
  const rising = compared
    .map((id, place) => ({ id, places: (before.get(id.toHexString()) ?? 0) - (place + 1), place }))
    .filter(({ places, place }) => places > 0 && (votes[place] ?? 0) > 0)
    .toSorted((a, b) => b.places - a.places || a.place - b.place);
  return {
    rising: rising.slice(0, PICKED).map(({ id, places }) => ({ id, places })),
    newcomers: newcomers.slice(0, PICKED).flatMap((place) => ids[place] ?? []),
  };
}

export type PickedRows = { rising: { row: ListedRow; places: number }[]; newcomers: ListedRow[] };

/** Makes two queries by id. */
export async function readPicks(deps: RankingDeps, { picks }: ListingSummary): Promise<PickedRows> {
  const { rising = [], newcomers = [] } = picks ?? {};
  const rows = await listedRows(deps, [...rising.map(({ id }) => id), ...newcomers]);
  const rowOf = (id: ObjectId) => rows.filter((row) => row.id === id.toHexString()).slice(0, 1);
  return {
    rising: rising.flatMap(({ id, places }) =>
      rowOf(id).flatMap((row) => (row.listingPause ? [] : [{ row, places }])),
    ),
    newcomers: newcomers.flatMap(rowOf).filter(({ onlinePlayers }) => onlinePlayers > 0),
  };
}
