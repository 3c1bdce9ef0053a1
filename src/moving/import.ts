import type { Collection, ObjectId } from 'mongodb';
import { dayOf } from '../periods/period-marks.ts';
import type { Producer } from '../queues.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { type ImportEnd, type ImportOptions, importLines } from './import-lines.ts';
import { type SampleImporting, sampleImporter } from './import-samples.ts';
import { type ServerImporting, serverImporter } from './import-servers.ts';
import { type VoteImporting, voteImporter } from './import-votes.ts';
import { aggregateDay, recountVotes, refreshDailyFigures, requestRanks } from './pending.ts';
import type { SourceFile } from './source-file.ts';

/** What imports work on. */
export type Importing = ServerImporting &
  VoteImporting &
  SampleImporting & { voteCounters: Collection<VoteCounter>; producer: Producer };

/** Imports servers; see `serverImporter`. Their ranks are computed by a worker afterwards. */
export async function importServers(
  deps: Importing,
  source: SourceFile,
  options: ImportOptions,
  by: string,
): Promise<ImportEnd> {
  const end = await importLines(source, () => serverImporter(deps, by), options);
  await requestRanks(deps.producer);
  return end;
}

/** Imports votes and counts them; see `voteImporter`. */
export async function importVotes(
  deps: Importing,
  source: SourceFile,
  options: ImportOptions,
): Promise<ImportEnd> {
  const count = (serverId: ObjectId, days: string[]) => countImported(deps, serverId, days);
  const end = await importLines(source, () => voteImporter(deps, count), options);
  await requestRanks(deps.producer);
  return end;
}

/** Imports samples and computes the days and the figures that they change; see `sampleImporter`. */
export async function importSamples(
  deps: Importing,
  source: SourceFile,
  options: ImportOptions,
): Promise<ImportEnd> {
  const aggregate = (touched: Touched) => summarise(deps, touched);
  const end = await importLines(source, () => sampleImporter(deps, aggregate), options);
  await requestRanks(deps.producer);
  return end;
}

/** Counts UTC days of a server from its votes. */
export async function countImported(
  deps: Pick<Importing, 'votes' | 'voteCounters'>,
  serverId: ObjectId,
  days: string[],
): Promise<void> {
  await recountVotes(deps, serverId, days);
}

type Touched = { serverId: ObjectId; days: string[] }[];

/** Computes finished days and then the figures of their servers; today is computed when it is over. */
export async function summarise(deps: SampleImporting, touched: Touched): Promise<void> {
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
    if (day < today) await aggregateDay(deps, day, { serverIds });
  }
  await refreshDailyFigures(deps, { serverIds: touched.map(({ serverId }) => serverId) });
}
