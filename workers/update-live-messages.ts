import { ObjectId } from 'mongodb';
import { dueLiveMessages } from '../src/events/live-status/due-live-messages.ts';
import { updateLiveMessage } from '../src/events/live-status/update-live-message.ts';
import { after, MINUTE, SECOND } from '../src/platform/clock.ts';
import type { QueueWork } from './queue-work.ts';

export const updateLiveMessagesWork: QueueWork<'update-live-messages'> = {
  concurrency: 8,
  // All of Discord's webhooks share a limit per second (discord-limits.ts), and others need it too.
  limiter: { most: 20, inMs: SECOND },
  period: {
    every: 'minute',
    due: async (deps) => (await dueLiveMessages(deps)).map((_id) => ({ liveMessageId: _id.toHexString() })),
  },
  processor:
    ({ deps, waitNoLonger }) =>
    async ({ liveMessageId }, job) => {
      const { end, again } = await updateLiveMessage(deps, new ObjectId(liveMessageId), waitNoLonger);
      const now = deps.clock.now();
      // Later ones are found by the scheduler.
      if (again && again.getTime() - now.getTime() < MINUTE)
        return job.delayUntil(new Date(Math.max(again.getTime(), after(now, SECOND).getTime())));
      return { end };
    },
};
