import type { Collection, ObjectId, WithId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Drafting } from './drafts.ts';
import type { Prover } from './prove-draft.ts';
import type { Server } from './server.ts';

/**
 * Gives a listed server to another person, by an operator's word. Its tokens and its listener stay.
 *
 * @returns the server as it is now; null when there is no such listed server
 */
export async function transferServer(
  deps: Drafting & { auditLog: Collection<AuditEntry> },
  serverId: ObjectId,
  to: Prover,
  by: string,
): Promise<WithId<Server> | null> {
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    {
      $set: { ownerId: to._id, proof: { method: 'operator', at: deps.clock.now() } },
      $unset: { ownerEmail: '' },
    },
    { returnDocument: 'after' },
  );
  if (!server) return null;
  // Where the one before wished to move it is no wish of the new owner's.
  await deps.serverDrafts.deleteOne({ serverId });
  await recordAudit(deps, { by, action: 'server.transfer', serverId, details: { to: to.email } });
  return server;
}
