import type { Collection, ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { DiscordWebhook } from '../notifications/discord/discord-webhook.ts';
import { removeWebhook } from '../notifications/discord/webhooks.ts';
import { CodedError } from '../platform/app-error.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { TtlCache } from '../platform/batching/ttl-cache.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import type { Review, ReviewList } from '../reviews/review.ts';
import type { ApiToken, AuthenticatedToken } from '../servers/api-token.ts';
import { revokeTokens } from '../servers/api-tokens.ts';
import type { DraftDeps } from '../servers/drafts.ts';
import type { Server } from '../servers/server.ts';

type Users = { users: Collection<User> };

/** The message is a sentence for the operator. */
export class TransferError extends CodedError<'user-not-found' | 'user-suspended'> {}

/**
 * Finds the new owner of a server.
 *
 * @param email - the address of an account; upper and lower case and surrounding spaces do not matter
 * @throws {TransferError} if there is no such account, or if its user is suspended
 */
export async function nextOwner({ users }: Users, email: string): Promise<User> {
  const user = await users.findOne({ email: email.trim().toLowerCase() });
  if (!user)
    throw new TransferError('user-not-found', 'Nobody has an account with this address. They sign up first.');
  if (user.suspendedAt) throw new TransferError('user-suspended', 'This user is suspended.');
  return user;
}

/**
 * Transfers a listed server to another user. If it had an owner: its tokens and claim keys are revoked, because that
 * owner knows them. Members, invitations and the Discord webhook are removed. The listener does not change. If a call
 * is interrupted, a repeated call completes it.
 *
 * @param by - who decided, for the audit log
 * @returns the server as it is now, and how many tokens were revoked; null when no such server is listed
 */
export async function transferServer(
  deps: DraftDeps &
    Users & {
      auditLog: Collection<AuditEntry>;
      reviews: Collection<Review>;
      reviewLists: Collection<ReviewList>;
      apiTokens: Collection<ApiToken>;
      authentications: TtlCache<AuthenticatedToken>;
      discordWebhooks: Collection<DiscordWebhook>;
    },
  serverId: ObjectId,
  to: Pick<User, '_id' | 'email'>,
  by: string,
): Promise<{ server: WithId<Server>; revokedTokens: number } | null> {
  const given = { ownerId: to._id, proof: { method: 'operator', at: deps.clock.now() } } as const;
  const before = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    { $set: given, $unset: { ownerEmail: '', members: '', invitations: '' } },
  );
  if (!before) return null;
  // Without a previous owner, the tokens stay valid: an operator listed the server and gave them to its future owner.
  const revokedTokens = before.ownerId ? await revokeTokens(deps, serverId) : 0;
  // Cancels a pending move of the previous owner.
  await deps.serverDrafts.deleteOne({ serverId });
  await removeWebhook(deps, serverId, by);
  await rejectOwnersReview(deps, { serverId, userId: to._id });
  const previous = before.ownerId ? await deps.users.findOne({ _id: before.ownerId }) : null;
  const from = previous?.email ?? before.ownerEmail ?? null;
  await recordAudit(deps, {
    by,
    action: 'server.transfer',
    serverId,
    details: { from, to: to.email, revokedTokens },
  });
  const { ownerEmail: _, members: __, invitations: ___, ...server } = before;
  return { server: { ...server, ...given }, revokedTokens };
}
