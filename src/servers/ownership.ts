import type { ObjectId } from 'mongodb';
import type { Server } from './server.ts';

/**
 * Whether this user is the proven owner of a server. A listed server has an owner only after a proof or an operator's
 * decision (an import with the owner's e-mail address, a transfer), so `ownerId` is enough.
 */
export function isProvenOwner({ ownerId }: Pick<Server, 'ownerId'>, userId: ObjectId): boolean {
  return ownerId?.equals(userId) ?? false;
}
