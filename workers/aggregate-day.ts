import type { Processor } from 'bullmq';
import { aggregateDay } from '../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../src/history/daily-figures.ts';
import { markAggregated } from '../src/history/due-aggregates.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/**
 * Returns the processor of `aggregate-day`. It computes the statistics of the job's day and the figures of all servers,
 * and marks the day as done. The job's progress in Bull Board is the percentage of finished servers.
 *
 * @param stop - aborted when the worker stops; then the day is not marked, and the signal's reason is thrown
 */
export function aggregateDays(deps: AppDeps, stop: AbortSignal): Processor<Payload<'aggregate-day'>> {
  return async (job) => {
    const { day } = QUEUES['aggregate-day'].payload.parse(job.data);
    const begunAt = deps.clock.now();
    let shown = 0;
    const progress = (done: number, total: number) => {
      const percent = Math.floor((100 * done) / Math.max(total, 1));
      if (percent === shown) return;
      shown = percent;
      // If Redis fails, the job goes on, and only its progress is not shown.
      void job.updateProgress(percent).catch(() => undefined);
    };
    const { servers } = await aggregateDay(deps, day, { progress, signal: stop });
    await refreshDailyFigures(deps, { signal: stop });
    await markAggregated(deps, day, begunAt);
    const durationMs = deps.clock.now().getTime() - begunAt.getTime();
    deps.log.info({ event: 'aggregate_day.done', day, servers, durationMs });
    return { servers };
  };
}
