import type { Filter, ObjectId, WithId } from 'mongodb';
import { type ActiveLease, withLease } from '../platform/periods/work-lease.ts';
import type { ServersDeps } from './deps.ts';
import type { Server } from './server.ts';

export type ServerAddress = { address: string; port: number };

export type AddressOwner =
  | { kind: 'nobody' }
  | { kind: 'own'; server: WithId<Server> }
  /** The user gets the server after proving the ownership. */
  | { kind: 'ownerless'; server: WithId<Server> }
  | { kind: 'other' };

/** The listed servers with this address, as the first or the second one. */
export function listedAt({ address, port }: ServerAddress, except?: ObjectId): Filter<Server> {
  return {
    $or: [
      { address, port, removedAt: null },
      { 'second.address': address, 'second.port': port, removedAt: null },
    ],
    ...(except ? { _id: { $ne: except } } : {}),
  };
}

/**
 * Several imported servers may have the address: the user's own counts first, then another user's, then one without an
 * owner.
 */
export async function findAddressOwner(
  { servers }: ServersDeps,
  { address, port }: ServerAddress,
  userId: ObjectId,
  except?: ObjectId,
): Promise<AddressOwner> {
  const there = await servers.find(listedAt({ address, port }, except)).sort({ listedAt: 1 }).toArray();
  const own = there.find(({ ownerId }) => ownerId?.equals(userId));
  if (own) return { kind: 'own', server: own };
  if (there.some(({ ownerId }) => ownerId)) return { kind: 'other' };
  const [server] = there;
  return server ? { kind: 'ownerless', server } : { kind: 'nobody' };
}

/**
 * Of the second address of a draft. `nobody` too if a server without an owner has both addresses of the draft: the user
 * gets it with the first one. `other` for any other server without an owner.
 */
export async function findSecondOwner(
  deps: ServersDeps,
  second: ServerAddress,
  first: AddressOwner,
  userId: ObjectId,
): Promise<'nobody' | 'own' | 'other'> {
  const owner = await findAddressOwner(deps, second, userId);
  if (owner.kind !== 'ownerless') return owner.kind;
  const isSame = first.kind === 'ownerless' && first.server._id.equals(owner.server._id);
  return isSame ? 'nobody' : 'other';
}

/**
 * If two users prove the same address, one proof runs after the other. One lease covers all addresses, because proofs
 * are rare and short.
 *
 * @throws {LeaseLostError} when the lease was lost during `work`; the signal's reason; what `work` throws
 */
export function withAddressLock<T>(
  deps: ServersDeps,
  work: (lease: ActiveLease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return withLease(deps, 'server-places', work, { signal });
}
