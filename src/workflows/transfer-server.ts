import { ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { removeWebhook } from '../notifications/discord/webhooks.ts';
import { CodedError } from '../platform/app-error.ts';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { storedEmail } from '../platform/email-address.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { revokeTokens } from '../servers/api-tokens.ts';
import type { Server, TransferUnderWay } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

/** The message is a sentence for the operator. */
export class TransferError extends CodedError<'user-not-found' | 'user-suspended'> {}

/** @throws {TransferError} if there is no such account, or if its user is suspended */
export async function nextOwner({ users }: WorkflowsDeps, email: string): Promise<User> {
  const user = await users.findOne({ email: storedEmail(email) });
  if (!user)
    throw new TransferError('user-not-found', 'Nobody has an account with this address. They sign up first.');
  if (user.suspendedAt) throw new TransferError('user-suspended', 'This user is suspended.');
  return user;
}

type NewOwner = Pick<User, '_id' | 'email'>;

/** `email` is null if the account was deleted since. */
type MadeOwner = { _id: ObjectId; email: string | null };

/**
 * Members, invitations, the Discord webhook and, if it had an owner, its tokens and claim keys end; the listener does
 * not change. A repeated call completes an interrupted transfer, and changes nothing after a completed one. null when no
 * such server is listed.
 */
export async function transferServer(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  to: NewOwner,
  by: string,
): Promise<{ server: WithId<Server>; revokedTokens: number } | null> {
  await completeOther(deps, serverId, to._id, by);
  const found = await changeOwner(deps, serverId, to._id);
  if (!found) return null;
  const { transfer, ...server } = found;
  if (!transfer) return { server, revokedTokens: 0 };
  const revokedTokens = await completeTransfer(deps, server, transfer, to, by);
  const { ownerEmail: _, ...completed } = server;
  return { server: completed, revokedTokens };
}

/** Since the next transfer replaces what is stored of it. */
async function completeOther(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  nextOwnerId: ObjectId,
  by: string,
): Promise<void> {
  const isOther = { ownerId: { $ne: nextOwnerId }, transfer: { $exists: true } };
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null, ...isOther });
  if (!server?.transfer || !server.ownerId) return;
  const owner = await deps.users.findOne({ _id: server.ownerId });
  const made = { _id: server.ownerId, email: owner?.email ?? null };
  await completeTransfer(deps, server, server.transfer, made, by);
}

/** If they are the owner already, only reads the server, which may have an interrupted transfer. */
async function changeOwner(
  { servers, clock }: WorkflowsDeps,
  serverId: ObjectId,
  ownerId: ObjectId,
): Promise<WithId<Server> | null> {
  const at = clock.now();
  const transfer = { auditId: new ObjectId(), at, from: { $ifNull: ['$ownerId', null] } };
  const changed = await servers.findOneAndUpdate(
    { _id: serverId, removedAt: null, ownerId: { $ne: ownerId } },
    [
      { $set: { ownerId, proof: { method: 'operator', at }, transfer } },
      { $unset: ['members', 'invitations'] },
    ],
    { returnDocument: 'after' },
  );
  return changed ?? servers.findOne({ _id: serverId, removedAt: null, ownerId });
}

/** Only what is older than the transfer ends. What the new owner has added since stays, so each step may run again. */
async function completeTransfer(
  deps: WorkflowsDeps,
  { _id: serverId, ownerEmail }: WithId<Server>,
  { auditId, at, from }: TransferUnderWay,
  to: MadeOwner,
  by: string,
): Promise<number> {
  // The previous owner knows the tokens. Without one, they stay valid: an operator gave them to the future owner.
  if (from) await revokeTokens(deps, serverId, { createdUntil: at });
  // An interrupted call may have revoked some already.
  const revoked = { serverId, createdAt: { $lte: at }, revokedAt: { $gte: at } };
  const revokedTokens = from ? await deps.apiTokens.countDocuments(revoked) : 0;
  // Cancels a pending move of the previous owner.
  await deps.serverDrafts.deleteOne({ serverId, createdAt: { $lte: at } });
  await removeWebhook(deps, serverId, by, at);
  await rejectOwnersReview(deps, { serverId, userId: to._id });
  const previous = from ? await deps.users.findOne({ _id: from }) : null;
  await recordAuditOnce(deps, auditId, {
    by,
    action: 'server.transfer',
    serverId,
    details: { from: previous?.email ?? ownerEmail ?? null, to: to.email, revokedTokens },
  });
  await deps.servers.updateOne(
    { _id: serverId, 'transfer.auditId': auditId },
    { $unset: { transfer: '', ownerEmail: '' } },
  );
  return revokedTokens;
}
