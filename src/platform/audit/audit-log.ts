import { type Collection, type Filter, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';
import { readSlice, type Slice } from '../slices.ts';
import type { AuditAction } from './audit-actions.ts';

const auditEntryDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  at: { type: Date, required: true },
  /** Who made the change: a user's e-mail address, or a fixed name such as `cli` or `automatic`. */
  by: { type: String, required: true },
  /** What was done: `vote.forget`, `listener.set`. An `AuditAction`; older entries may have another one. */
  action: { type: String, required: true },
  serverId: { type: Schema.Types.ObjectId, default: null },
  /** Ids and plain values; never a secret. */
  details: { type: Schema.Types.Mixed, required: true },
} as const;

export const auditEntrySchema = new Schema(auditEntryDefinition, { collection: 'audit_log' });
auditEntrySchema.index({ at: -1, _id: -1 });
auditEntrySchema.index({ serverId: 1, at: -1, _id: -1 });
auditEntrySchema.index({ by: 1, at: -1, _id: -1 });
auditEntrySchema.index({ action: 1, at: -1, _id: -1 });

export type AuditEntry = Omit<InferRawDocType<typeof auditEntryDefinition>, 'details'> & {
  details: Record<string, unknown>;
};

type NewEntry = {
  by: string;
  action: AuditAction;
  serverId: ObjectId | null;
  details: Record<string, unknown>;
};

export async function recordAudit(
  { auditLog, clock }: { auditLog: Collection<AuditEntry>; clock: Clock },
  entry: NewEntry,
): Promise<void> {
  await auditLog.insertOne({ _id: new ObjectId(), at: clock.now(), ...entry });
}

/** Repeated or concurrent calls with the same id write one entry. */
export async function recordAuditOnce(
  { auditLog, clock }: { auditLog: Collection<AuditEntry>; clock: Clock },
  _id: ObjectId,
  entry: NewEntry,
): Promise<void> {
  await auditLog.insertOne({ _id, at: clock.now(), ...entry }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}

type AuditFilter = { by?: string | undefined; action?: string | undefined; serverId?: ObjectId };

/**
 * Newest first. An index serves one condition only: the server, otherwise the user, otherwise the action. The others
 * are checked for each entry, so a slice may have few entries although more follow.
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
