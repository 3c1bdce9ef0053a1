import { createVoteWatch } from '../src/events/sources/watch-votes.ts';
import type { QueueWork } from './queue-work.ts';

export const watchVotesWork: QueueWork<'watch-votes'> = {
  period: { every: '10 seconds' },
  processor({ deps, stop }) {
    const look = createVoteWatch(deps);
    return async () => {
      const result = await look(stop);
      if (result.events > 0) deps.log.debug({ event: 'events.votes', ...result });
      return result;
    };
  },
};
