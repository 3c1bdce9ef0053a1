import type { Processor } from 'bullmq';
import type { Metrics } from '../src/metrics.ts';
import { markDone } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { type Payload, QUEUES } from '../src/queues.ts';
import { repairReviewLists } from '../src/reviews/repair-lists.ts';
import { repairCounters } from '../src/votes/repair-counters.ts';

/** Puts the vote counters and the lists of reviews of the day that a job names right, and marks the day as done. */
export function repairCountersWorker(
  platform: Platform,
  metrics: Pick<Metrics, 'countersDrifted'>,
  stop: AbortSignal,
): Processor<Payload<'repair-counters'>> {
  return async (job) => {
    const { day } = QUEUES['repair-counters'].payload.parse(job.data);
    const { servers, drifts } = await repairCounters(platform, day, {
      signal: stop,
      progress: (done, total) => void job.updateProgress({ done, total }).catch(() => undefined),
    });
    for (const { counted, votes } of drifts) metrics.countersDrifted(Math.abs(counted - votes));
    const reviews = await repairReviewLists(platform, day, { signal: stop });
    await markDone(platform, 'repair-counters', day);
    platform.log.info({ event: 'counters.repaired', day, servers, wrong: drifts.length, reviews });
    return { servers, wrong: drifts.length };
  };
}
