import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { type Listener, type Rewards, rewardsOf } from './listener.ts';

/** For votes that are cast later: those that already wait are still sent. Returns whether the server has a listener. */
export async function setRewards(
  deps: { listeners: Collection<Listener>; auditLog: Collection<AuditEntry>; clock: Clock },
  serverId: ObjectId,
  rewards: Rewards,
  by: string,
): Promise<boolean> {
  const listener = await deps.listeners.findOne({ serverId }, { projection: { rewards: 1 } });
  if (!listener) return false;
  // Where nothing was chosen, `both` applied already.
  const isChanged = rewardsOf(listener) !== rewards;
  const since = isChanged ? { rewardsSince: deps.clock.now() } : {};
  const { matchedCount } = await deps.listeners.updateOne({ serverId }, { $set: { rewards, ...since } });
  if (matchedCount === 0) return false;
  await recordAudit(deps, { by, action: 'listener.rewards', serverId, details: { rewards } });
  return true;
}
