import type { Collection, ObjectId, WithId } from 'mongodb';
import { type ActiveLease, type Leasing, withLease } from '../platform/periods/work-lease.ts';
import type { Server } from './server.ts';

/** Where players connect. */
export type ServerAddress = { address: string; port: number };

/** Who has a place, as somebody sees it who would like to list a server there. */
type PlaceHolder =
  | { kind: 'nobody' }
  /** Their own server. */
  | { kind: 'own'; server: WithId<Server> }
  /** A server that belongs to nobody: whoever proves that it is theirs gets it. */
  | { kind: 'ownerless'; server: WithId<Server> }
  | { kind: 'other' };

/**
 * Who has a place. Where several servers are listed there, as imported ones may be, one of somebody else's outweighs
 * those of nobody.
 */
export async function addressHolder(
  { servers }: { servers: Collection<Server> },
  { address, port }: ServerAddress,
  userId: ObjectId,
): Promise<PlaceHolder> {
  const there = await servers.find({ address, port, removedAt: null }).sort({ listedAt: 1 }).toArray();
  const own = there.find(({ ownerId }) => ownerId?.equals(userId));
  if (own) return { kind: 'own', server: own };
  if (there.some(({ ownerId }) => ownerId)) return { kind: 'other' };
  const [server] = there;
  return server ? { kind: 'ownerless', server } : { kind: 'nobody' };
}

/**
 * Does `work` while nobody else decides who gets a place: two who prove the same one at the same moment come one
 * after the other. One lease for all places, since this is rare and quick.
 *
 * @throws the signal's reason when it was waited for too long, and what `work` throws
 */
export function withAddressLock<T>(
  deps: Leasing,
  work: (lease: ActiveLease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return withLease(deps, 'server-places', work, { signal });
}
