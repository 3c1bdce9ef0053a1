import type { Processor } from 'bullmq';
import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { markDone } from '../src/platform/periods/period-marks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import { runSteps } from '../src/platform/run-steps.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { sweepPictures } from '../src/servers/pictures.ts';
import { forgetAddresses } from '../src/workflows/retention/forget-addresses.ts';
import { forgetNames } from '../src/workflows/retention/forget-names.ts';

/**
 * Returns the processor of `clean-up`. It deletes data whose retention time has ended on the job's day, and pictures
 * that nothing uses, and marks the day as done if all of that worked. If a run is interrupted or fails, the scheduler
 * adds the job again.
 */
export function cleanUp(deps: AppDeps, signal: AbortSignal): Processor<Payload<'clean-up'>> {
  return async (job) => {
    const { day } = QUEUES['clean-up'].payload.parse(job.data);
    const steps = {
      forgotten: () => forgetAttempts(deps, day),
      pictures: () => sweepPictures(deps),
      addresses: () => forgetAddresses(deps, day, { signal }),
      names: () => forgetNames(deps, day, { signal }),
    };
    const result = await runSteps(deps, 'clean-up', steps, signal);
    await markDone(deps, 'clean-up', day);
    deps.log.info({ event: 'clean_up.done', day, ...result });
    return result;
  };
}
