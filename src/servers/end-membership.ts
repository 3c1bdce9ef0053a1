import type { ObjectId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { putMail } from '../mail/outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { TokenMaker } from './api-token.ts';
import { handOverTokens, revokeTokens } from './api-tokens.ts';
import type { ServersDeps } from './deps.ts';
import type { MemberRole } from './server.ts';

/**
 * Changes the role of a member. If a member becomes read-only, the tokens that they created are revoked.
 *
 * @returns whether there is such a member
 */
export async function changeRole(
  deps: ServersDeps,
  serverId: ObjectId,
  userId: ObjectId,
  role: MemberRole,
  by: string,
): Promise<boolean> {
  const { matchedCount } = await deps.servers.updateOne(
    { _id: serverId, 'members.userId': userId },
    { $set: { 'members.$.role': role } },
  );
  if (matchedCount === 0) return false;
  const revokedTokens = role === 'read' ? await revokeTokens(deps, serverId, { issuedBy: userId }) : 0;
  const details = { userId: userId.toHexString(), role, ...(revokedTokens > 0 ? { revokedTokens } : {}) };
  await recordAudit(deps, { by, action: 'member.role', serverId, details });
  return true;
}

/**
 * Removes a member (who may be the caller) and revokes the tokens that they created.
 *
 * @param keepFor - if given, this maker gets the tokens, and they are not revoked
 * @returns how many tokens were revoked; null when there was no such member
 */
export async function removeMember(
  deps: ServersDeps,
  serverId: ObjectId,
  userId: ObjectId,
  by: string,
  keepFor?: TokenMaker,
): Promise<{ revokedTokens: number } | null> {
  if (!(await deps.servers.findOne({ _id: serverId, 'members.userId': userId }))) return null;
  // The tokens are revoked first: if the process dies after that, another call can still remove the member.
  if (keepFor) await handOverTokens(deps, serverId, { from: userId, to: keepFor });
  const before = await revokeTokens(deps, serverId, { issuedBy: userId });
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, 'members.userId': userId },
    { $pull: { members: { userId } } },
  );
  // The member may have created another token in the meantime.
  const revokedTokens = before + (await revokeTokens(deps, serverId, { issuedBy: userId }));
  if (modifiedCount === 0) return null;
  const tokens = {
    ...(revokedTokens > 0 ? { revokedTokens } : {}),
    ...(keepFor ? { tokensKept: true } : {}),
  };
  await recordAudit(deps, {
    by,
    action: 'member.remove',
    serverId,
    details: { userId: userId.toHexString(), ...tokens },
  });
  return { revokedTokens };
}

/**
 * Removes a member who leaves. If this revokes tokens, the owner gets a mail, because plugins may use the tokens. No
 * mail is sent without `SMTP_URL` or to an unconfirmed address.
 */
export async function leaveServer(
  deps: ServersDeps,
  serverId: ObjectId,
  member: Pick<User, '_id' | 'email'>,
): Promise<void> {
  const left = await removeMember(deps, serverId, member._id, member.email);
  if (!left || left.revokedTokens === 0 || !deps.config.SMTP_URL) return;
  const server = await deps.servers.findOne({ _id: serverId });
  const owner = server?.ownerId ? await deps.users.findOne({ _id: server.ownerId }) : null;
  if (!server || !owner?.emailVerified) return;
  await putMail(deps, {
    to: owner.email,
    serverId,
    ...leftText(deps.config, server.name, { by: member.email, serverId, ...left }),
  });
}

type Left = { by: string; serverId: ObjectId; revokedTokens: number };

function leftText(
  { PUBLIC_URL: url, SERVICE_NAME: site }: ServersDeps['config'],
  name: string,
  { by, serverId, revokedTokens }: Left,
) {
  const tokens = revokedTokens === 1 ? 'One API token' : `${revokedTokens} API tokens`;
  return {
    subject: `${name}: a member left, and their tokens are revoked`,
    text: [
      `${by} no longer manages ${name}. ${tokens} that they made for it are refused from now on. If a plugin or website uses one of them, give it a new one:`,
      `${url}/dashboard/servers/${serverId.toHexString()}/tokens`,
      `-- \n${site}, ${url}\nYou get this mail because you own this server.`,
    ].join('\n\n'),
  };
}
