import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Listener, Rewards } from './listener.ts';

/**
 * Sets how the votes of a server with a listener are rewarded. The choice applies to votes that are cast later; votes
 * that already wait for the listener are still sent.
 *
 * @param by - who chose it, for the audit log
 * @returns whether the server has a listener
 */
export async function setRewards(
  deps: { listeners: Collection<Listener>; auditLog: Collection<AuditEntry>; clock: Clock },
  serverId: ObjectId,
  rewards: Rewards,
  by: string,
): Promise<boolean> {
  const { matchedCount } = await deps.listeners.updateOne({ serverId }, { $set: { rewards } });
  if (matchedCount === 0) return false;
  await recordAudit(deps, { by, action: 'listener.rewards', serverId, details: { rewards } });
  return true;
}
