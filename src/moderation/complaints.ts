import { type Filter, ObjectId, type UpdateFilter, type WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../language/t.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { DAY } from '../platform/clock.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { countUse } from '../platform/limits/by-network.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import type { Server } from '../servers/server.ts';
import { COMPLAINT_KINDS, type Complaint } from './complaint.ts';
import type { ModerationDeps } from './deps.ts';

/** In code points. */
export const LONGEST_COMPLAINT = 1_000;

export const COMPLAINTS = defineLimit({
  key: 'complaint',
  what: 'Reports of servers to the operators',
  of: 'network',
  times: 5,
  windowMs: DAY,
  sentence: defineMessage('Your network has sent too many reports.'),
});

/** The most open complaints about one server; further ones are not stored. More would not help operators to decide. */
const MOST_OF_A_SERVER = 50;

const complaintInput = z.object({
  kind: z.enum(COMPLAINT_KINDS, { error: () => t('choose a reason') }),
  text: z
    .string()
    .trim()
    .refine((text) => [...text].length <= LONGEST_COMPLAINT, {
      error: () => t('must have at most {max, number} characters', { max: LONGEST_COMPLAINT }),
    }),
});

/**
 * null if the complaint was accepted; otherwise the time from which the network may send the next one.
 *
 * @throws {InvalidDocumentError} when the kind or the text is invalid
 */
export async function complain(
  deps: ModerationDeps,
  serverId: ObjectId,
  input: { kind: string; text: string },
  from: { address: string; userId: ObjectId | null },
): Promise<Date | null> {
  const { kind, text } = parseInput(complaintInput, input);
  if (kind === 'other' && !text) throw new InvalidDocumentError({ text: t('must not be empty') });
  const retryAt = await countUse(deps, COMPLAINTS, from.address);
  if (retryAt) return retryAt;
  const open = await deps.complaints.countDocuments({ serverId, isOpen: true }, { limit: MOST_OF_A_SERVER });
  if (open >= MOST_OF_A_SERVER) return null;
  await deps.complaints.insertOne({
    _id: new ObjectId(),
    serverId,
    kind,
    ...(text ? { text } : {}),
    ...(from.userId ? { userId: from.userId } : {}),
    at: deps.clock.now(),
    isOpen: true,
  });
  return null;
}

/** The newest complaint first. `server` is null when it was removed. */
export type ServerComplaints = {
  serverId: ObjectId;
  server: WithId<Pick<Server, 'name' | 'slug' | 'hiddenAt'>> | null;
  complaints: Complaint[];
};

/** A page of open complaints, newest first, grouped by server. A server may occur on several pages. */
export async function openComplaints(
  { complaints, servers }: ModerationDeps,
  { from, limit }: { from?: string | undefined; limit: number },
): Promise<Slice<ServerComplaints>> {
  const { rows, next } = await readSlice(complaints, {
    filter: { isOpen: true },
    by: { field: 'at', direction: -1 },
    from,
    limit,
  });
  const byServer = Map.groupBy(rows, ({ serverId }) => serverId.toHexString());
  const ids = [...byServer.keys()].map((id) => new ObjectId(id));
  const found = await servers
    .find({ _id: { $in: ids }, removedAt: null }, { projection: { name: 1, slug: 1, hiddenAt: 1 } })
    .toArray();
  const serverOf = new Map(found.map((server) => [server._id.toHexString(), server]));
  const grouped = ids.map((serverId) => ({
    serverId,
    server: serverOf.get(serverId.toHexString()) ?? null,
    complaints: byServer.get(serverId.toHexString()) ?? [],
  }));
  return { rows: grouped, next };
}

type Closing = {
  ids: ObjectId[];
  /** The same in a repeated call. */
  closingId: ObjectId;
};

/** Returns those that this closing closed, also in an earlier call; another operator may have closed the others. */
export async function closeComplaints(deps: ModerationDeps, { ids, closingId }: Closing, by: string) {
  const closed = { closedAt: deps.clock.now(), closedBy: by, closingId };
  const update = { $set: closed, $unset: { isOpen: '' } } as const;
  const change = {
    from: { isOpen: true },
    to: { closingId },
    update,
    action: 'complaint.close',
    by,
  } as const;
  return decide(deps, ids, change);
}

/** Returns those that are open again: of what this closing closed. */
export async function reopenComplaints(deps: ModerationDeps, { ids, closingId }: Closing, by: string) {
  const update = { $set: { isOpen: true }, $unset: { closedAt: '', closedBy: '', closingId: '' } } as const;
  const change = {
    from: { closingId },
    to: { isOpen: true },
    update,
    action: 'complaint.reopen',
    by,
  } as const;
  return decide(deps, ids, change);
}

type Change = {
  from: Filter<Complaint>;
  /** An earlier call has changed it. */
  to: Filter<Complaint>;
  update: UpdateFilter<Complaint>;
  action: AuditAction;
  by: string;
};

async function decide(
  { complaints, auditLog, clock }: ModerationDeps,
  ids: ObjectId[],
  { from, to, update, action, by }: Change,
): Promise<ObjectId[]> {
  for (const _id of ids) {
    const complaint = await complaints.findOneAndUpdate({ ...from, _id }, update);
    if (!complaint) continue;
    const { serverId, kind } = complaint;
    await recordAudit({ auditLog, clock }, { by, action, serverId, details: { kind } });
  }
  const changed = complaints.find({ _id: { $in: ids }, ...to }, { projection: { _id: 1 } });
  return changed.map(({ _id }) => _id).toArray();
}

/** The complaints stay, because they are about servers. */
export async function forgetSender({ complaints }: ModerationDeps, userId: ObjectId): Promise<void> {
  await complaints.updateMany({ userId }, { $unset: { userId: '' } });
}
