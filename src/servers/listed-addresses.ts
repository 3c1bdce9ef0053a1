import type { Collection, ObjectId, WithId } from 'mongodb';
import { type ActiveLease, type LeaseDeps, withLease } from '../platform/periods/work-lease.ts';
import type { Server } from './server.ts';

/** Where players connect. */
export type ServerAddress = { address: string; port: number };

/** Who owns the server at an address, as seen by a user who wants to list a server there. */
type AddressHolder =
  | { kind: 'nobody' }
  /** The user's own server. */
  | { kind: 'own'; server: WithId<Server> }
  /** A server without an owner: a user who proves ownership gets it. */
  | { kind: 'ownerless'; server: WithId<Server> }
  | { kind: 'other' };

/**
 * Finds who owns the server at an address. If imported servers share an address: a server of another user counts before
 * one without an owner.
 */
export async function addressHolder(
  { servers }: { servers: Collection<Server> },
  { address, port }: ServerAddress,
  userId: ObjectId,
): Promise<AddressHolder> {
  const there = await servers.find({ address, port, removedAt: null }).sort({ listedAt: 1 }).toArray();
  const own = there.find(({ ownerId }) => ownerId?.equals(userId));
  if (own) return { kind: 'own', server: own };
  if (there.some(({ ownerId }) => ownerId)) return { kind: 'other' };
  const [server] = there;
  return server ? { kind: 'ownerless', server } : { kind: 'nobody' };
}

/**
 * Runs `work` under the lease for address changes, so that two proofs of one address run one after the other. One
 * lease covers all addresses, because proofs are rare and short.
 *
 * @throws the signal's reason when the signal aborts the wait, and what `work` throws
 */
export function withAddressLock<T>(
  deps: LeaseDeps,
  work: (lease: ActiveLease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return withLease(deps, 'server-places', work, { signal });
}
