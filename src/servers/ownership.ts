import type { ObjectId } from 'mongodb';
import type { Server } from './server.ts';

/**
 * Whether it is proven that a server is this user's. A listed server has an owner only by that owner's own proof
 * or by an operator's word (an import for their address, a transfer), so its owner's name is the proof.
 */
export function isProvenOwner({ ownerId }: Pick<Server, 'ownerId'>, userId: ObjectId): boolean {
  return ownerId?.equals(userId) ?? false;
}
