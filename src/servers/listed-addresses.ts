import type { ObjectId, WithId } from 'mongodb';
import { type ActiveLease, withLease } from '../platform/periods/work-lease.ts';
import type { ServersDeps } from './deps.ts';
import type { Server } from './server.ts';

export type ServerAddress = { address: string; port: number };

type AddressOwner =
  | { kind: 'nobody' }
  | { kind: 'own'; server: WithId<Server> }
  /** The user gets the server after proving the ownership. */
  | { kind: 'ownerless'; server: WithId<Server> }
  | { kind: 'other' };

/**
 * Several imported servers may have the address: the user's own counts first, then another user's, then one without an
 * owner.
 */
export async function findAddressOwner(
  { servers }: ServersDeps,
  { address, port }: ServerAddress,
  userId: ObjectId,
): Promise<AddressOwner> {
  const there = await servers.find({ address, port, removedAt: null }).sort({ listedAt: 1 }).toArray();
  const own = there.find(({ ownerId }) => ownerId?.equals(userId));
  if (own) return { kind: 'own', server: own };
  if (there.some(({ ownerId }) => ownerId)) return { kind: 'other' };
  const [server] = there;
  return server ? { kind: 'ownerless', server } : { kind: 'nobody' };
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
