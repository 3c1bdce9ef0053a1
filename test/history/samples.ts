import { ObjectId } from 'mongodb';
import type { DailySums } from '../../src/history/daily-stats.ts';
import type { StatusSample } from '../../src/history/status-sample.ts';
import { after, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

/** A platform at a time that the test chooses; the time series does not expire samples in the future of its own clock. */
export async function depsAt(at: string): Promise<AppDeps & { clock: StoppedClock }> {
  return { ...(await testDeps()), clock: stoppedClock(new Date(at)) };
}

export async function listServer(deps: AppDeps, name = 'Alpha'): Promise<ObjectId> {
  const settings = { name, address: 'play.example.org', port: 25_565 };
  return new ObjectId((await addServer(deps, settings, 'test')).serverId);
}

type Given = Partial<Omit<StatusSample, 'at' | 'serverId' | 'source'>>;

/** A successful probe of 300 s unless `given` says otherwise. */
export function probe(serverId: ObjectId, at: string | Date, given: Given = {}): StatusSample {
  return {
    serverId,
    at: new Date(at),
    source: 'probe',
    seconds: 300,
    status: 'online',
    onlinePlayers: 0,
    maxPlayers: 100,
    latencyMs: null,
    ...given,
  };
}

export function report(serverId: ObjectId, at: string | Date, given: Given = {}): StatusSample {
  return { ...probe(serverId, at, given), source: 'report', seconds: 0 };
}

/** `count` probes, one every `seconds`, from `from` on. */
export function probes(
  serverId: ObjectId,
  from: string,
  count: number,
  given: Given & { seconds?: number } = {},
): StatusSample[] {
  const seconds = given.seconds ?? 300;
  return Array.from({ length: count }, (_, i) =>
    probe(serverId, after(new Date(from), i * seconds * SECOND), given),
  );
}

/** Writes samples as probes and reports do. */
export async function insert({ servers, statusSamples }: AppDeps, samples: StatusSample[]): Promise<void> {
  const reports = samples.filter(({ source }) => source === 'report').toSorted((a, b) => +a.at - +b.at);
  const firstReports = new Map(reports.toReversed().map(({ serverId, at }) => [serverId.toHexString(), at]));
  for (const [serverId, firstReportAt] of firstReports) {
    await servers.updateOne({ _id: new ObjectId(serverId) }, { $min: { firstReportAt } });
  }
  await statusSamples.insertMany(samples.map((sample) => ({ ...sample })));
}

/** The stored stats of a server's day. */
export async function dayOfServer(
  { dailyStats }: AppDeps,
  serverId: ObjectId,
  day: string,
): Promise<{ probes: DailySums; reports: DailySums } | null> {
  const found = await dailyStats.findOne({ serverId, day });
  return found && { probes: found.probes, reports: found.reports };
}

export const NOTHING: DailySums = {
  onlineSeconds: 0,
  offlineSeconds: 0,
  unconfirmedSeconds: 0,
  canarySeconds: 0,
  playerSeconds: 0,
  latencySum: 0,
  latencySeconds: 0,
  peakPlayers: 0,
};
