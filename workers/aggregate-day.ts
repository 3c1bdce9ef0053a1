import { aggregateDay } from '../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../src/history/daily-figures.ts';
import { dueAggregates, markAggregated } from '../src/history/due-aggregates.ts';
import type { QueueWork } from './queue-work.ts';

/**
 * Computes the statistics of the job's day and the figures of all servers, and marks the day as done. The job's progress
 * is the percentage of finished servers. If the worker stops, the day is not marked, and the signal's reason is thrown.
 */
export const aggregateDayWork: QueueWork<'aggregate-day'> = {
  period: { every: '10 minutes', due: async (deps) => (await dueAggregates(deps)).map((day) => ({ day })) },
  processor:
    ({ deps, stop }) =>
    async ({ day }, job) => {
      const begunAt = deps.clock.now();
      let shown = 0;
      const progress = (done: number, total: number) => {
        const percent = Math.floor((100 * done) / Math.max(total, 1));
        if (percent === shown) return;
        shown = percent;
        job.showProgress(percent);
      };
      const { servers } = await aggregateDay(deps, day, { progress, signal: stop });
      await refreshDailyFigures(deps, { signal: stop });
      await markAggregated(deps, day, begunAt);
      const durationMs = deps.clock.now().getTime() - begunAt.getTime();
      deps.log.info({ event: 'aggregate_day.done', day, servers, durationMs });
      return { servers };
    },
};
