import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { dueDays, markDone } from '../src/platform/periods/period-marks.ts';
import { runSteps } from '../src/platform/run-steps.ts';
import { sweepPictures } from '../src/servers/pictures.ts';
import { forgetAddresses } from '../src/workflows/retention/forget-addresses.ts';
import { forgetNames } from '../src/workflows/retention/forget-names.ts';
import type { QueueWork } from './queue-work.ts';

/**
 * Deletes data whose retention time has ended on the job's day, and pictures that nothing uses, and marks the day as
 * done if all of that worked. If a run is interrupted or fails, the scheduler adds the job again.
 */
export const cleanUpWork: QueueWork<'clean-up'> = {
  period: {
    every: '10 minutes',
    due: async (deps) => (await dueDays(deps, 'clean-up')).map((day) => ({ day })),
  },
  processor:
    ({ deps, stop: signal }) =>
    async ({ day }) => {
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
    },
};
