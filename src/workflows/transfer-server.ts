import { createHash } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { removeLiveMessage } from '../events/live-status/live-messages.ts';
import { removeSubscriptions } from '../events/remove-subscriptions.ts';
import { CodedError } from '../platform/app-error.ts';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { storedEmail } from '../platform/email-address.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { revokeTokens } from '../servers/api-tokens.ts';
import { movesOf } from '../servers/moves.ts';
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

/** `email` is null if the account was deleted since. */
type MadeOwner = { _id: ObjectId; email: string | null };

/**
 * The listener does not change; tokens and claim keys end if the server had an owner. A repeated call completes an
 * interrupted transfer, and changes nothing after a completed one. null when no such server is listed.
 */
export async function transferServer(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  to: Pick<User, '_id' | 'email'>,
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
  await deps.serverDrafts.deleteMany({ ...movesOf(serverId), createdAt: { $lte: at } });
  await removeSubscriptions(deps, serverId, by, at);
  await removeLiveMessage(deps, serverId, by, at);
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

/** The audit log entry has a derived id and is written first: an interrupted run is completed without a second one. */
export async function adoptServers(
  deps: WorkflowsDeps,
  { _id: userId, email, emailVerified }: Pick<User, '_id' | 'email' | 'emailVerified'>,
): Promise<number> {
  if (!emailVerified) return 0;
  const { servers } = deps;
  const unclaimed = { ownerEmail: email, ownerId: { $exists: false }, removedAt: null };
  const waiting = await servers.find(unclaimed, { projection: { _id: 1 } }).toArray();
  let claimed = 0;
  for (const { _id } of waiting) {
    await recordAuditOnce(deps, entryId(_id, userId), {
      by: email,
      action: 'server.claim',
      serverId: _id,
      details: { personId: userId.toHexString() },
    });
    await rejectOwnersReview(deps, { serverId: _id, userId });
    const { modifiedCount } = await servers.updateOne({ _id, ...unclaimed }, { $set: { ownerId: userId } });
    claimed += modifiedCount;
  }
  return claimed;
}

/** At sign-up and sign-in. A failure is logged, and the user is signed in anyway. */
export async function adoptOnEntry(deps: WorkflowsDeps, userId: ObjectId): Promise<void> {
  const { users, log } = deps;
  try {
    const user = await users.findOne({ _id: userId });
    const claimed = user ? await adoptServers(deps, user) : 0;
    if (claimed > 0) log.info({ event: 'account.servers_claimed', userId: userId.toHexString(), claimed });
  } catch (error) {
    log.warn({ event: 'account.servers_not_claimed', reason: String(error) });
  }
}

function entryId(serverId: ObjectId, userId: ObjectId): ObjectId {
  const name = `server.claim ${serverId.toHexString()} ${userId.toHexString()}`;
  return new ObjectId(createHash('sha256').update(name).digest('hex').slice(0, 24));
}
