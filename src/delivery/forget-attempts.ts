import { after, DAY } from '../platform/clock.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { DeliveryDeps } from './deps.ts';
import { withoutAttempts } from './timeline/older-attempts.ts';

/** After this only a summary is left (`OlderAttempts`). */
export const ATTEMPT_DETAILS_TTL_MS = 90 * DAY;

/**
 * Deletes the details of attempts and the e-mail addresses of users who resent votes, of the newest UTC day whose votes
 * are all 90 days old when `day` begins. Returns how many votes had details. Safe to run again.
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
    // The audit log still contains who resent a vote.
    await votes.updateMany(
      { serverId, votedAt, 'delivery.events.by': /@/ },
      { $unset: { 'delivery.events.$[].by': 1 } },
    );
  }
  return forgotten;
}
