import { ObjectId } from 'mongodb';
import { finishExclusion } from '../src/votes/exclusions/finish-exclusion.ts';
import { unfinishedExclusions } from '../src/votes/exclusions/request-exclusion.ts';
import type { QueueWork } from './queue-work.ts';

/**
 * Finishes an exclusion. The scheduler adds jobs for unfinished ones: if one is still running, the job waits for it and
 * then has nothing to do.
 */
export const excludeVotesWork: QueueWork<'exclude-votes'> = {
  period: {
    every: '10 minutes',
    due: async (deps) =>
      (await unfinishedExclusions(deps)).map((exclusionId) => ({ exclusionId: exclusionId.toHexString() })),
  },
  processor:
    ({ deps, stop }) =>
    async ({ exclusionId }, job) => {
      await finishExclusion(deps, new ObjectId(exclusionId), {
        signal: stop,
        progress: (done, total) => job.showProgress({ done, total }),
      });
      deps.log.info({ event: 'exclusion.finished', exclusionId });
    },
};
