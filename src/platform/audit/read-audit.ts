import type { Collection, Filter, ObjectId } from 'mongodb';
import { readOn, type Slice } from '../slices.ts';
import type { AuditEntry } from './audit-log.ts';

/** Which entries are looked for; what is absent does not matter. */
type AuditFilter = { by?: string | undefined; action?: string | undefined; serverId?: ObjectId };

/**
 * A slice of the audit log, newest first. One of the conditions is found by an index, the server's before the
 * user's before the action's; the others are looked at one by one, so that a slice may have few entries and the
 * list still go on.
 */
export function readAudit(
  { auditLog }: { auditLog: Collection<AuditEntry> },
  { by, action, serverId }: AuditFilter,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<AuditEntry>> {
  const byIndex: Filter<AuditEntry> = serverId ? { serverId } : by ? { by } : action ? { action } : {};
  const others = Boolean((serverId && by) || ((serverId || by) && action));
  const wanted = (entry: AuditEntry) => (!by || entry.by === by) && (!action || entry.action === action);
  return readOn(auditLog, {
    filter: byIndex,
    by: { field: 'at', direction: -1 },
    from,
    limit,
    ...(others ? { wanted } : {}),
  });
}
