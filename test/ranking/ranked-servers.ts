import { ObjectId } from 'mongodb';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { dueAggregates, markAggregated } from '../../src/history/due-aggregates.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { newProbeState } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';

/** A listed server as the ranking sees it; what is not said is the same for all. */
export async function listServer(
  { servers }: Pick<AppDeps, 'servers'>,
  settings: Partial<Pick<Server, 'listedAt' | 'removedAt' | 'hiddenAt' | 'rankPosition'>> & {
    _id?: ObjectId;
    uptime?: number | null;
  } = {},
): Promise<ObjectId> {
  const { uptime = null, _id = new ObjectId(), ...rest } = settings;
  await servers.insertOne({
    _id,
    name: _id.toHexString(),
    slug: _id.toHexString(),
    slugs: [_id.toHexString()],
    address: 'play.example.org',
    port: 25_565,
    isPremium: false,
    listedAt: new Date('2026-01-01'),
    removedAt: null,
    rankPosition: 1,
    ranked: null,
    current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '' },
    daily: { averagePlayers: 0, peakPlayers: 0, probedUptime: uptime },
    probe: newProbeState(new Date()),
    ...rest,
  });
  return _id;
}

/** Counters of a server: votes by UTC day. */
export async function setCounters(
  { voteCounters }: Pick<AppDeps, 'voteCounters'>,
  serverId: ObjectId,
  votesByDay: Record<string, number>,
): Promise<void> {
  for (const [day, votes] of Object.entries(votesByDay)) {
    await voteCounters.updateOne(
      { serverId, month: day.slice(0, 7) },
      { $set: { [`days.${day.slice(8)}`]: votes } },
      { upsert: true },
    );
  }
}

/** The places of these servers. */
export async function placesOf(
  { servers }: Pick<AppDeps, 'servers'>,
  serverIds: ObjectId[],
): Promise<number[]> {
  const found = await servers.find({ _id: { $in: serverIds } }).toArray();
  return serverIds.map((id) => found.find(({ _id }) => _id.equals(id))?.rankPosition ?? 0);
}

/** Computes every day that is due, as the workers do. */
export async function computeDays(deps: AppDeps): Promise<void> {
  const begunAt = deps.clock.now();
  for (const day of await dueAggregates(deps)) {
    await aggregateDay(deps, day);
    await refreshDailyFigures(deps);
    await markAggregated(deps, day, begunAt);
  }
}
