import { after, DAY } from '../platform/clock.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { DeliveryDeps } from './deps.ts';
import { withoutAttempts } from './timeline/older-attempts.ts';

/** How long details of attempts are stored. After that, only a summary is left (`OlderAttempts`). */
export const ATTEMPT_DETAILS_TTL_MS = 90 * DAY;

/**
 * Deletes the details of attempts and the e-mail addresses of users who resent votes, for one UTC day: the newest day
 * whose votes are all 90 days old when `day` begins. Safe to run again.
 *
 * @param day - a UTC day, `2026-11-21`
 * @returns how many votes had details
 */
export async function forgetAttempts({ servers, votes }: DeliveryDeps, day: string): Promise<number> {
  const until = after(startOfDay(day), -ATTEMPT_DETAILS_TTL_MS);
  const votedAt = { $gte: after(until, -DAY), $lt: until };
  let forgotten = 0;
  for await (const { _id: serverId } of servers.find({}, { projection: { _id: 1 } })) {
    const changed = await votes.updateMany({ serverId, votedAt, 'delivery.attempts.0': { $exists: true } }, [
      { $set: withoutAttempts() },
    ]);
    forgotten += changed.modifiedCount;
    // The audit log still contains who resent a vote. Votes of this age can no longer be resent.
    await votes.updateMany(
      { serverId, votedAt, 'delivery.events.by': /@/ },
      { $unset: { 'delivery.events.$[].by': 1 } },
    );
  }
  return forgotten;
}
