import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Listener, Rewards } from './listener.ts';

/** For votes that are cast later: those that already wait are still sent. Returns whether the server has a listener. */
export async function setRewards(
  deps: { listeners: Collection<Listener>; auditLog: Collection<AuditEntry>; clock: Clock },
  serverId: ObjectId,
  rewards: Rewards,
  by: string,
): Promise<boolean> {
  const changed = await deps.listeners.updateOne(
    { serverId, rewards: { $ne: rewards } },
    { $set: { rewards, rewardsSince: deps.clock.now() } },
  );
  if (changed.matchedCount === 0 && (await deps.listeners.countDocuments({ serverId })) === 0) return false;
  await recordAudit(deps, { by, action: 'listener.rewards', serverId, details: { rewards } });
  return true;
}
