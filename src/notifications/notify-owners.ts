import { runSteps } from '../platform/run-steps.ts';
import type { NotificationsDeps } from './deps.ts';
import { notifyOfHeldNotifications } from './notify.ts';
import { notifyOfExclusions, notifyOfReviews } from './notify-of-decisions.ts';
import { notifyOfListeners } from './notify-of-listeners.ts';
import { notifyOfServers } from './notify-of-servers.ts';

/** Each finds its events in the present state of the database. */
const SOURCES = {
  listeners: notifyOfListeners,
  servers: notifyOfServers,
  reviews: notifyOfReviews,
  exclusions: notifyOfExclusions,
  held: notifyOfHeldNotifications,
};

/**
 * Each notification is written once for each channel, even if runs are concurrent or interrupted: its message gets an
 * id made of the event, and the event is marked afterwards. Returns how many were written.
 */
export async function notifyOwners(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const steps = Object.entries(SOURCES).map(
    ([name, notifyOf]) => [name, () => notifyOf(deps, stop)] as const,
  );
  const written = await runSteps(deps, 'tell-owners', Object.fromEntries(steps), stop);
  return Object.values(written).reduce((sum, one) => sum + one, 0);
}
