import type { Job, Processor } from 'bullmq';
import { markDone } from '../src/platform/periods/period-marks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Metrics } from '../src/process/metrics.ts';
import { repairReviewLists } from '../src/reviews/repair-lists.ts';
import { type Repair, repairCounters, repairOpenCounters } from '../src/votes/repair-counters.ts';

/**
 * Returns the processor of `repair-counters`. It corrects the vote counters and the review lists of the job's day, and
 * marks the day as done.
 */
export function repairCountersWorker(
  deps: AppDeps,
  metrics: Metrics,
  stop: AbortSignal,
): Processor<Payload<'repair-counters'>> {
  return async (job) => {
    const { day } = QUEUES['repair-counters'].payload.parse(job.data);
    const repair = await repairCounters(deps, day, optionsOf(job, stop));
    const reviews = await repairReviewLists(deps, day, { signal: stop });
    await markDone(deps, 'repair-counters', day);
    const { servers, wrong } = count(repair, metrics);
    deps.log.info({ event: 'counters.repaired', day, servers, wrong, reviews });
    return { servers, wrong };
  };
}

/** Returns the processor of `repair-today`. It corrects the vote counters of unsettled days while votes are cast. */
export function repairTodayWorker(
  deps: AppDeps,
  metrics: Metrics,
  stop: AbortSignal,
): Processor<Payload<'repair-today'>> {
  return async (job) => {
    const result = count(await repairOpenCounters(deps, optionsOf(job, stop)), metrics);
    deps.log.debug({ event: 'counters.compared', ...result });
    return result;
  };
}

function optionsOf(job: Job, signal: AbortSignal) {
  const progress = (done: number, total: number) =>
    void job.updateProgress({ done, total }).catch(() => undefined);
  return { signal, progress };
}

function count({ servers, drifts }: Repair, metrics: Metrics): { servers: number; wrong: number } {
  for (const { counted, votes } of drifts)
    metrics.count('tallyport_counter_drift_votes_total', {}, Math.abs(counted - votes));
  return { servers, wrong: drifts.length };
}
