import type { ObjectId } from 'mongodb';
import { recountGoalFrom } from '../goals/count-goal.ts';
import { aggregateDay } from '../history/aggregate-day.ts';
import { refreshDailyFigures } from '../history/daily-figures.ts';
import type { HistoryDeps } from '../history/deps.ts';
import { DayError, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import { withLease } from '../platform/periods/work-lease.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import { recountVotes } from '../votes/recount-votes.ts';
import type { ImportVotesDeps } from './deps.ts';
import { type ImportOptions, type ImportResult, importLines } from './import-lines.ts';
import { sampleImporter } from './import-samples.ts';
import { serverImporter } from './import-servers.ts';
import { voteImporter } from './import-votes.ts';
import type { SourceFile } from './source-file.ts';

export async function importServers(
  deps: HistoryDeps,
  source: SourceFile,
  options: ImportOptions,
  by: string,
): Promise<ImportResult> {
  const result = await importLines(source, () => serverImporter(deps, by), options);
  await requestRanks(deps.producer);
  return result;
}

export async function importVotes(
  deps: ImportVotesDeps,
  source: SourceFile,
  options: ImportOptions,
): Promise<ImportResult> {
  const count = async (serverId: ObjectId, days: string[]) => {
    const [first] = days.toSorted();
    if (first) await recountGoalFrom(deps, serverId, startOfDay(first));
    await recountVotes(deps, serverId, days);
  };
  const result = await importLines(source, () => voteImporter(deps, count), options);
  await requestRanks(deps.producer);
  return result;
}

/**
 * A time series cannot have a unique index, so a lease lets only one import run at a time.
 * @throws {LeaseLostError} when another import may have begun; running this one again completes it
 */
export async function importSamples(
  deps: HistoryDeps,
  source: SourceFile,
  options: ImportOptions,
): Promise<ImportResult> {
  const aggregate = (touched: Touched) => aggregateTouchedDays(deps, touched);
  const result = await withLease(deps, 'import-samples', ({ throwIfLost }) =>
    importLines(source, () => sampleImporter(deps, { aggregate, throwIfLost }), options),
  );
  await requestRanks(deps.producer);
  return result;
}

type Touched = { serverId: ObjectId; days: string[] }[];

/**
 * Today is computed when it is over. If midnight passes during an import, the oldest day becomes too old and is
 * skipped. If the import is run again, it adds the samples of that day to the day's sums.
 */
export async function aggregateTouchedDays(deps: HistoryDeps, touched: Touched): Promise<void> {
  const today = dayOf(deps.clock.now());
  const serversOf = new Map<string, ObjectId[]>();
  for (const { serverId, days } of touched) {
    for (const day of days) {
      const serverIds = serversOf.get(day) ?? [];
      serversOf.set(day, serverIds);
      serverIds.push(serverId);
    }
  }
  for (const [day, serverIds] of serversOf) {
    if (day < today) await aggregateDay(deps, day, { serverIds }).catch(passOverTooOld);
  }
  await refreshDailyFigures(deps, { serverIds: touched.map(({ serverId }) => serverId) });
}

function passOverTooOld(error: unknown): void {
  if (!(error instanceof DayError && error.code === 'day-too-old')) throw error;
}
