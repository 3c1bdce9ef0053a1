import type { Processor } from 'bullmq';
import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { markDone } from '../src/platform/periods/period-marks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { sweepPictures } from '../src/servers/pictures.ts';
import { forgetAddresses } from '../src/workflows/retention/forget-addresses.ts';
import { forgetNames } from '../src/workflows/retention/forget-names.ts';

/**
 * Returns the processor of `clean-up`. It deletes data whose retention time has ended on the job's day, and pictures
 * that nothing uses, and marks the day as done. If a run is interrupted, the scheduler adds the job again.
 */
export function cleanUp(deps: AppDeps, signal: AbortSignal): Processor<Payload<'clean-up'>> {
  return async (job) => {
    const { day } = QUEUES['clean-up'].payload.parse(job.data);
    const forgotten = await forgetAttempts(deps, day);
    const pictures = await sweepPictures(deps);
    const addresses = await forgetAddresses(deps, day, { signal });
    const names = await forgetNames(deps, day, { signal });
    await markDone(deps, 'clean-up', day);
    const result = { forgotten, pictures, addresses, names };
    deps.log.info({ event: 'clean_up.done', day, ...result });
    return result;
  };
}
