import type { Collection, Filter, ObjectId } from 'mongodb';
import { readSlice, type Slice } from '../slices.ts';
import type { AuditEntry } from './audit-log.ts';

/** The entries to find; absent fields match everything. */
type AuditFilter = { by?: string | undefined; action?: string | undefined; serverId?: ObjectId };

/**
 * A slice of the audit log, newest first. An index serves one condition only: the server, otherwise the user, otherwise
 * the action. The other conditions are checked for each entry, so a slice may have few entries although more follow.
 */
export function readAudit(
  { auditLog }: { auditLog: Collection<AuditEntry> },
  { by, action, serverId }: AuditFilter,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<AuditEntry>> {
  const byIndex: Filter<AuditEntry> = serverId ? { serverId } : by ? { by } : action ? { action } : {};
  const others = Boolean((serverId && by) || ((serverId || by) && action));
  const wanted = (entry: AuditEntry) => (!by || entry.by === by) && (!action || entry.action === action);
  return readSlice(auditLog, {
    filter: byIndex,
    by: { field: 'at', direction: -1 },
    from,
    limit,
    ...(others ? { wanted } : {}),
  });
}
