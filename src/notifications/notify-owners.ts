import { storeRankChanges } from '../events/sources/rank-changes.ts';
import { runSteps } from '../platform/run-steps.ts';
import type { NotificationsDeps } from './deps.ts';
import { notifyOfHeldNotifications } from './notify.ts';
import { notifyOfExclusions, notifyOfReviews } from './notify-of-decisions.ts';
import { notifyOfListeners } from './notify-of-listeners.ts';
import { notifyOfServers } from './notify-of-servers.ts';

/**
 * Each notification is written once for each channel, even if runs are concurrent or interrupted: its mail and its event
 * get an id made of what happened, which is marked afterwards. Returns how many were written.
 */
export async function notifyOwners(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const steps = {
    listeners: () => notifyOfListeners(deps, stop),
    servers: () => notifyOfServers(deps, stop),
    reviews: () => notifyOfReviews(deps, stop),
    exclusions: () => notifyOfExclusions(deps, stop),
    ranks: () => storeRankChanges(deps),
    held: () => notifyOfHeldNotifications(deps, stop),
  };
  const written = await runSteps(deps, 'tell-owners', steps, stop);
  return Object.values(written).reduce((sum, one) => sum + one, 0);
}
