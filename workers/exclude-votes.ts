import type { Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { finishExclusion } from '../src/votes/exclusions/finish-exclusion.ts';

/** Returns the processor of `exclude-votes`. If a run is interrupted, the scheduler adds the job again. */
export function excludeVotesWorker(deps: AppDeps, stop: AbortSignal): Processor<Payload<'exclude-votes'>> {
  return async (job) => {
    const { exclusionId } = QUEUES['exclude-votes'].payload.parse(job.data);
    await finishExclusion(deps, new ObjectId(exclusionId), {
      signal: stop,
      progress: (done, total) => void job.updateProgress({ done, total }).catch(() => undefined),
    });
    deps.log.info({ event: 'exclusion.finished', exclusionId });
  };
}
