import { type Collection, ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import { type Clock, DAY } from '../platform/clock.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import type { RateLimit } from '../platform/limits/rate-limit.ts';
import type { Server } from '../servers/server.ts';
import { COMPLAINT_KINDS, type Complaint } from './complaint.ts';

type Complaints = { complaints: Collection<Complaint>; clock: Clock };
type SendDeps = Complaints & { rateLimits: Collection<RateLimit> };

/** The longest text, in code points. */
export const LONGEST_COMPLAINT = 1_000;

/** How many complaints one network may send in a day. */
const OF_A_NETWORK = { times: 5, windowMs: DAY };

/** How many open complaints of one server are stored. More would change nothing for operators. */
const MOST_OF_A_SERVER = 50;

const complaintInput = z.object({
  kind: z.enum(COMPLAINT_KINDS, { error: () => t('choose a reason') }),
  text: z
    .string()
    .trim()
    .refine((text) => [...text].length <= LONGEST_COMPLAINT, {
      error: () => t('must have at most {max} characters', { max: LONGEST_COMPLAINT }),
    }),
});

/**
 * Stores a visitor's complaint about a server for the operators. A network may send five a day.
 *
 * @param from - the visitor's address, which is used for the limit only, and the user where one is signed in
 * @returns null; above the limit, when the next complaint may be sent
 * @throws {InvalidDocumentError} for the input
 */
export async function complain(
  deps: SendDeps,
  serverId: ObjectId,
  input: { kind: string; text: string },
  from: { address: string; userId: ObjectId | null },
): Promise<Date | null> {
  const { kind, text } = parseInput(complaintInput, input);
  if (kind === 'other' && !text) throw new InvalidDocumentError({ text: t('must not be empty') });
  const retryAt = await takeAll(deps, byNetwork('complaint', from.address, OF_A_NETWORK));
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

/** The oldest open complaints, each with its server; null when it was removed. */
export async function openComplaints(
  { complaints, servers }: { complaints: Collection<Complaint>; servers: Collection<Server> },
  { limit }: { limit: number },
): Promise<{ complaint: Complaint; server: WithId<Pick<Server, 'name' | 'slug'>> | null }[]> {
  const open = await complaints.find({ isOpen: true }).sort({ at: 1, _id: 1 }).limit(limit).toArray();
  const ids = [...new Set(open.map(({ serverId }) => serverId.toHexString()))].map((id) => new ObjectId(id));
  const found: WithId<Pick<Server, 'name' | 'slug'>>[] =
    ids.length === 0
      ? []
      : await servers
          .find({ _id: { $in: ids }, removedAt: null }, { projection: { name: 1, slug: 1 } })
          .toArray();
  return open.map((complaint) => ({
    complaint,
    server: found.find(({ _id }) => _id.equals(complaint.serverId)) ?? null,
  }));
}

/** Closes a complaint. Returns whether it was open. */
export async function closeComplaint(
  { complaints, auditLog, clock }: Complaints & { auditLog: Collection<AuditEntry> },
  complaintId: ObjectId,
  by: string,
): Promise<boolean> {
  const closed = await complaints.findOneAndUpdate(
    { _id: complaintId, isOpen: true },
    { $set: { closedAt: clock.now(), closedBy: by }, $unset: { isOpen: '' } },
  );
  if (!closed) return false;
  const { serverId, kind } = closed;
  await recordAudit({ auditLog, clock }, { by, action: 'complaint.close', serverId, details: { kind } });
  return true;
}

/** Removes a user from their complaints. The complaints stay: they are about the servers. */
export async function forgetSender({ complaints }: Complaints, userId: ObjectId): Promise<void> {
  await complaints.updateMany({ userId }, { $unset: { userId: '' } });
}
