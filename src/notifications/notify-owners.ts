import { tellOfExclusions } from './tell-of-exclusions.ts';
import { tellOfHeld } from './tell-of-held.ts';
import { tellOfListeners } from './tell-of-listeners.ts';
import { tellOfReviews } from './tell-of-reviews.ts';
import { tellOfServers } from './tell-of-servers.ts';

/** Each finds its events in the present state of the database. */
const SOURCES = [tellOfListeners, tellOfServers, tellOfReviews, tellOfExclusions, tellOfHeld];

type Notifying = Parameters<typeof tellOfListeners>[0] &
  Parameters<typeof tellOfServers>[0] &
  Parameters<typeof tellOfReviews>[0] &
  Parameters<typeof tellOfExclusions>[0];

/**
 * Writes the notifications that are due, by mail and to Discord. Each is written once for each channel, also after
 * concurrent or interrupted runs: its message enters the outbox under an id made of the event, and the event is recorded
 * as told afterwards.
 *
 * @returns how many were written
 */
export async function notifyOwners(deps: Notifying, stop: AbortSignal): Promise<number> {
  let written = 0;
  for (const tellOf of SOURCES) written += await tellOf(deps, stop);
  return written;
}
