import { findUnusualVotes } from '../src/moderation/unusual-votes.ts';
import type { QueueWork } from './queue-work.ts';

/** If a run is interrupted, the next run finds the unusual votes. */
export const findUnusualVotesWork: QueueWork<'find-unusual-votes'> = {
  period: { every: '10 minutes' },
  processor:
    ({ deps, stop }) =>
    async () => {
      const result = await findUnusualVotes(deps, { signal: stop });
      deps.log.info({ event: 'votes.unusual', ...result });
      return result;
    },
};
