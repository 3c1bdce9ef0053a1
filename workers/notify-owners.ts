import { notifyOwners } from '../src/notifications/notify-owners.ts';
import type { QueueWork } from './queue-work.ts';

/** Writes the notifications that are due. If a run is interrupted, the next run writes the remaining ones. */
export const notifyOwnersWork: QueueWork<'tell-owners'> = {
  period: { every: 'minute' },
  processor:
    ({ deps, stop }) =>
    async () => {
      const written = await notifyOwners(deps, stop);
      if (written > 0) deps.log.info({ event: 'notifications.written', written });
      return { written };
    },
};
