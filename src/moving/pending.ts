import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../clock.ts';
import { addDays, dayOf, startOf } from '../periods/period-marks.ts';
import type { Producer } from '../queues.ts';
import type { Server } from '../servers/server.ts';
import type { DailyStats } from '../status/daily-stats.ts';
import { addSample, emptySums } from '../status/daily-sums.ts';
import type { StatusSample } from '../status/status-sample.ts';
import type { Vote } from '../votes/vote.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';

type Deps = {
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  statusSamples: Collection<StatusSample>;
  dailyStats: Collection<DailyStats>;
  servers: Collection<Server>;
  clock: Clock;
};
export async function recountVotes(
  deps: Pick<Deps, 'votes' | 'voteCounters'>,
  serverId: ObjectId,
  days: string[],
): Promise<void> {
  for (const day of days) {
    const count = await deps.votes.countDocuments({
      serverId,
      votedAt: { $gte: startOf(day), $lt: startOf(addDays(day, 1)) },
    });
    await deps.voteCounters.updateOne(
      { serverId, month: day.slice(0, 7) },
      { $set: { [`days.${day.slice(8)}`]: count } },
      { upsert: true },
    );
  }
}
export async function aggregateDay(
  deps: Pick<Deps, 'statusSamples' | 'dailyStats' | 'clock'>,
  day: string,
  options: { serverIds: ObjectId[] },
): Promise<void> {
  if (day >= dayOf(deps.clock.now())) return;
  for (const serverId of options.serverIds) {
    const probes = emptySums();
    for await (const sample of deps.statusSamples.find({
      serverId,
      at: { $gte: startOf(day), $lt: startOf(addDays(day, 1)) },
    }))
      addSample(probes, sample);
    await deps.dailyStats.replaceOne(
      { serverId, day },
      { serverId, day, probes, reports: emptySums() } as never,
      { upsert: true },
    );
  }
}
export async function refreshDailyFigures(
  deps: Pick<Deps, 'dailyStats' | 'servers' | 'clock'>,
  { serverIds }: { serverIds: ObjectId[] },
): Promise<void> {
  for (const serverId of serverIds) {
    const sums = emptySums();
    for await (const { probes } of deps.dailyStats.find({
      serverId,
      day: { $gte: addDays(dayOf(deps.clock.now()), -30) },
    })) {
      sums.onlineSeconds += probes.onlineSeconds;
      sums.offlineSeconds += probes.offlineSeconds;
      sums.latencySum += probes.latencySum;
      sums.latencySeconds += probes.latencySeconds;
      sums.peakPlayers = Math.max(sums.peakPlayers, probes.peakPlayers);
      sums.playerSeconds += probes.playerSeconds;
    }
    await deps.servers.updateOne(
      { _id: serverId },
      {
        $set: {
          'daily.averagePlayers': sums.playerSeconds / sums.onlineSeconds || 0,
          'daily.peakPlayers': sums.peakPlayers,
          'daily.averageLatency': sums.latencySum / sums.latencySeconds || null,
          'daily.uptimePercentage': (100 * sums.onlineSeconds) / (sums.onlineSeconds + sums.offlineSeconds),
        },
      },
    );
  }
}
export async function requestRanks(_producer: Producer): Promise<void> {}
