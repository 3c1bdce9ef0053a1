import { markDone } from '../src/platform/periods/period-marks.ts';
import type { Metrics } from '../src/process/metrics.ts';
import { repairReviewLists } from '../src/reviews/review-list.ts';
import { dueRepairs, type Repair, repairCounters, repairOpenCounters } from '../src/votes/repair-counters.ts';
import type { QueueWork, RunningJob } from './queue-work.ts';

/** Corrects the vote counters and the review lists of the job's day, and marks the day as done. */
export const repairCountersWork: QueueWork<'repair-counters'> = {
  period: { every: '10 minutes', due: async (deps) => (await dueRepairs(deps)).map((day) => ({ day })) },
  processor:
    ({ deps, metrics, stop }) =>
    async ({ day }, job) => {
      const repair = await repairCounters(deps, day, optionsOf(job, stop));
      const reviews = await repairReviewLists(deps, day, { signal: stop });
      await markDone(deps, 'repair-counters', day);
      const { servers, wrong } = count(repair, metrics);
      deps.log.info({ event: 'counters.repaired', day, servers, wrong, reviews });
      return { servers, wrong };
    },
};

/** Corrects the vote counters of unsettled days while votes are cast. A run continues where the last one ended. */
export const repairTodayWork: QueueWork<'repair-today'> = {
  period: { every: 'minute' },
  processor:
    ({ deps, metrics, stop }) =>
    async (_payload, job) => {
      const result = count(await repairOpenCounters(deps, optionsOf(job, stop)), metrics);
      deps.log.debug({ event: 'counters.compared', ...result });
      return result;
    },
};

function optionsOf(job: RunningJob, signal: AbortSignal) {
  return { signal, progress: (done: number, total: number) => job.showProgress({ done, total }) };
}

function count({ servers, drifts }: Repair, metrics: Metrics): { servers: number; wrong: number } {
  for (const { counted, votes } of drifts)
    metrics.count('tallyport_counter_drift_votes_total', {}, Math.abs(counted - votes));
  return { servers, wrong: drifts.length };
}
