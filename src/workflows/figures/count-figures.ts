import type { Collection } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../../listeners/delivery-limits.ts';
import { DAY } from '../../platform/clock.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import { withLease } from '../../platform/periods/work-lease.ts';
import type { WorkflowsDeps } from '../deps.ts';
import { countSiteDay, type Waiting } from './count-site-day.ts';
import type { SiteFigures } from './site-figures.ts';

/**
 * A vote may be delivered until `DELIVERY_EXPIRES_MS` after it was cast. So a finished day is counted again on each of
 * these days after it. Later, only a resend by hand can change its deliveries.
 */
const OPEN_DAYS = Math.ceil(DELIVERY_EXPIRES_MS / DAY) + 1;

/** A day that no run has counted, as after an upgrade, is counted if it is at most this many days ago. */
const CATCH_UP_DAYS = 35;

/**
 * Counts the figures of today and of the earlier days that are due; a lease allows one run at a time. If a run dies,
 * the next run counts the days that are left.
 *
 * @param waiting - reads which work waits now
 * @returns the days that were counted, today first
 * @throws as `withLease` does
 */
export function countFigures(
  deps: WorkflowsDeps,
  waiting: () => Promise<Waiting>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<string[]> {
  return withLease(
    deps,
    'count-figures',
    async ({ throwIfLost }) => {
      const today = dayOf(deps.clock.now());
      const days = await dueFigures(deps.siteFigures, today);
      for (const day of days) {
        const now = day === today ? await waiting() : undefined;
        await countSiteDay(deps, day, { waiting: now, throwIfLost });
      }
      return days;
    },
    signal ? { signal } : {},
  );
}

/**
 * The days to count: today, days that were never counted, and days whose votes may still wait, unless counted today.
 */
async function dueFigures(siteFigures: Collection<SiteFigures>, today: string): Promise<string[]> {
  const first = addDays(today, -CATCH_UP_DAYS);
  const stored = await siteFigures
    .find({ day: { $gte: first, $lt: today } }, { projection: { day: 1, countedAt: 1 } })
    .toArray();
  const counted = new Map(stored.map(({ day, countedAt }) => [day, countedAt]));
  const earlier = Array.from({ length: CATCH_UP_DAYS }, (_, i) => addDays(today, -(i + 1)));
  return [today, ...earlier.filter((day) => isDue(day, counted.get(day), today))];
}

function isDue(day: string, countedAt: Date | undefined, today: string): boolean {
  if (!countedAt) return true;
  const countedOn = dayOf(countedAt);
  // If the last count was less than `OPEN_DAYS` days after the day, its deliveries may have changed since.
  return countedOn < today && countedOn < addDays(day, OPEN_DAYS);
}
