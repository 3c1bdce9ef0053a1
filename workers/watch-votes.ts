import type { QueueWork } from './queue-work.ts';

export const watchVotesWork: QueueWork<'watch-votes'> = {
  period: { every: '10 seconds' },
  processor: () => async () => ({}),
};
