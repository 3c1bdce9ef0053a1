import { recordAudit } from '../platform/audit/audit-log.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import type { Platform } from '../process/platform.ts';
import { storeRanks } from '../ranking/take-snapshot.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { ListedSample } from './sample-days.ts';
import { countToday, writeSampleHistory } from './sample-history.ts';
import { writeSampleReviews } from './sample-reviews.ts';

/** Written once a server's past is all there, so that another demo on the same data leaves it alone. */
const PAST_MARK = 'sample.history';

/** Written once the places of the past follow from all of it. */
const PLACES_MARK = 'sample.places';

const PLACES_DAYS = 30;

/** The first of them alone, since users look at it at once; the more at a time, the sooner all are there. */
const AT_ONCE = [1, 4, 10, 25];

/**
 * Makes up what sample servers did before, those at the head of the list first, and the places that follow from it.
 * What an earlier demo wrote is left alone, and what it left half done is completed.
 *
 * @param told.written - told of each few that have their past now, and how many of all have theirs
 * @throws the signal's reason
 */
export async function fillSamples(
  platform: Platform,
  listed: ListedSample[],
  { written, signal }: { written: (some: ListedSample[], ready: number) => void; signal: AbortSignal },
): Promise<void> {
  const { auditLog } = platform;
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
      await writeSampleHistory(platform, some);
      for (const one of some) await writeSampleReviews(platform, one);
      finishing.push(finish(platform, some));
      start += some.length;
      written(some, there.length + start);
    }
  } finally {
    await Promise.allSettled(finishing);
  }
  await Promise.all(finishing);
  if (await auditLog.findOne({ action: PLACES_MARK })) return;
  const today = dayOf(platform.clock.now());
  for (let ago = PLACES_DAYS; ago > 0; ago--) await storeRanks(platform, addDays(today, -ago));
  await recordAudit(platform, { by: 'demo', action: PLACES_MARK, serverId: null, details: {} });
}

/** Counts the votes of the day that goes on, which may take a while, and notes that the servers' past is there. */
async function finish(platform: Platform, some: ListedSample[]): Promise<void> {
  await countToday(platform, some);
  for (const { serverId, sample } of some)
    await recordAudit(platform, { by: 'demo', action: PAST_MARK, serverId, details: { name: sample.name } });
  await requestRanks(platform.producer);
}
