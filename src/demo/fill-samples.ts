import { recordAudit } from '../platform/audit/audit-log.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { storeRanks } from '../ranking/rank-snapshots.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { ListedSample } from './sample-days.ts';
import { countToday, writeSampleHistory } from './sample-history.ts';
import { writeSampleReviews } from './sample-reviews.ts';

/** The audit log entry that marks a server whose history is complete. A later demo does not write it again. */
const PAST_MARK = 'sample.history';

/** The audit log entry that marks that the ranks of past days are stored. */
const PLACES_MARK = 'sample.places';

const PLACES_DAYS = 30;

/**
 * How many servers get their history in each step; a fifth step does all others. The first server is alone because
 * users look at it first.
 */
const AT_ONCE = [1, 4, 10, 25];

/**
 * Writes the made-up history of the sample servers in the order of the list, and then their ranks of past days. What an
 * earlier demo has written stays and is completed.
 *
 * @param options.written - called after each step with the servers of the step, and the number of all that are ready
 * @throws the signal's reason when `signal` is aborted
 */
export async function fillSamples(
  deps: AppDeps,
  listed: ListedSample[],
  { written, signal }: { written: (some: ListedSample[], ready: number) => void; signal: AbortSignal },
): Promise<void> {
  const { auditLog } = deps;
  const done = await auditLog.distinct('serverId', { action: PAST_MARK });
  const known = new Set(done.map(String));
  const [open, there] = [false, true].map((wanted) =>
    listed.filter(({ serverId }) => known.has(serverId.toHexString()) === wanted),
  ) as [ListedSample[], ListedSample[]];
  if (there.length > 0) written(there, there.length);
  const finishing: Promise<void>[] = [];
  try {
    for (let start = 0, step = 0; start < open.length; step++) {
      signal.throwIfAborted();
      const some = open.slice(start, start + (AT_ONCE[step] ?? open.length));
      await writeSampleHistory(deps, some);
      for (const one of some) await writeSampleReviews(deps, one);
      finishing.push(finish(deps, some));
      start += some.length;
      written(some, there.length + start);
    }
  } finally {
    await Promise.allSettled(finishing);
  }
  await Promise.all(finishing);
  if (await auditLog.findOne({ action: PLACES_MARK })) return;
  const today = dayOf(deps.clock.now());
  for (let ago = PLACES_DAYS; ago > 0; ago--) await storeRanks(deps, addDays(today, -ago), null);
  await recordAudit(deps, { by: 'demo', action: PLACES_MARK, serverId: null, details: {} });
}

/** Counts today's votes and marks the history of the servers as complete. Counting may take some time. */
async function finish(deps: AppDeps, some: ListedSample[]): Promise<void> {
  await countToday(deps, some);
  for (const { serverId, sample } of some)
    await recordAudit(deps, { by: 'demo', action: PAST_MARK, serverId, details: { name: sample.name } });
  await requestRanks(deps.producer);
  // Without this job, the pages of figures would show no votes for up to an hour.
  await deps.producer.add('count-figures', {});
}
