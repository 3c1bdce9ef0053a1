import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Server } from './server.ts';

/** Turns the vote form of a server on or off. Votes that were already cast do not change. */
export async function switchVoteForm(
  deps: { servers: Collection<Server>; auditLog: Collection<AuditEntry>; clock: Clock },
  serverId: ObjectId,
  isOn: boolean,
  by: string,
): Promise<void> {
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    isOn ? { $unset: { webVotes: '' } } : { $set: { webVotes: false } },
  );
  if (modifiedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.web-votes', serverId, details: { isOn } });
}
