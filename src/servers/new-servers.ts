import type { Filter, ObjectId, UpdateFilter, WithId } from 'mongodb';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import type { ServersDeps } from './deps.ts';
import type { Server } from './server.ts';

/** A page of servers that owners have listed and no operator has looked at, the newest first. */
export function listNewServers(
  { servers }: ServersDeps,
  { from, limit }: { from?: string | undefined; limit: number },
): Promise<Slice<WithId<Server>>> {
  const by = { field: 'listedAt', direction: -1 } as const;
  return readSlice(servers, { filter: { isUnseen: true }, by, from, limit });
}

/** Stores that an operator has looked at new servers. Returns how many of them no operator had looked at before. */
export function acceptNewServers(deps: ServersDeps, ids: ObjectId[], by: string): Promise<number> {
  const change = { from: { isUnseen: true }, update: { $unset: { isUnseen: '' } } } as const;
  return changeServers(deps, ids, { ...change, action: 'server.accept', by });
}

/** Puts servers back into the list of new ones. Returns how many were not in it. */
export function unacceptServers(deps: ServersDeps, ids: ObjectId[], by: string): Promise<number> {
  const change = {
    from: { isUnseen: { $exists: false }, removedAt: null },
    update: { $set: { isUnseen: true } },
  };
  return changeServers(deps, ids, { ...change, action: 'server.unaccept', by });
}

type Change = { from: Filter<Server>; update: UpdateFilter<Server>; action: AuditAction; by: string };

/** Changes the servers that match `from`, one after another, each with its audit entry. */
async function changeServers(
  { servers, auditLog, clock }: ServersDeps,
  ids: ObjectId[],
  { from, update, action, by }: Change,
): Promise<number> {
  let changed = 0;
  for (const serverId of ids) {
    const { modifiedCount } = await servers.updateOne({ ...from, _id: serverId }, update);
    if (modifiedCount === 0) continue;
    await recordAudit({ auditLog, clock }, { by, action, serverId, details: {} });
    changed += 1;
  }
  return changed;
}
