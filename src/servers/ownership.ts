import type { ObjectId } from 'mongodb';
import type { MemberRole, Server } from './server.ts';

/**
 * What a user may do with a server: `full` members change everything but the members, the owner and whether it is listed;
 * `read` members see the dashboard only.
 */
export type Role = 'owner' | MemberRole;

/**
 * The role of a user at a server; null for strangers. A listed server has an owner only after a proof or an operator's
 * decision (an import with the owner's e-mail address, a transfer), so `ownerId` is enough.
 */
export function roleOf(
  { ownerId, members }: Pick<Server, 'ownerId' | 'members'>,
  userId: ObjectId,
): Role | null {
  if (ownerId?.equals(userId)) return 'owner';
  return members?.find((member) => member.userId.equals(userId))?.role ?? null;
}
