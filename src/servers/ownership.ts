import type { ObjectId } from 'mongodb';
import type { MemberRole, Server } from './server.ts';

/**
 * A `full` member may do everything except change the members, the owner and whether the server is listed. A `read`
 * member only sees the dashboard.
 */
export type ServerRole = 'owner' | MemberRole;

/**
 * Null for other users. Only `ownerId` is checked: a listed server gets an owner only by a proof or an operator's
 * decision (a transfer, or an import with the owner's e-mail address).
 */
export function roleOf(
  { ownerId, members }: Pick<Server, 'ownerId' | 'members'>,
  userId: ObjectId,
): ServerRole | null {
  if (ownerId?.equals(userId)) return 'owner';
  return members?.find((member) => member.userId.equals(userId))?.role ?? null;
}
