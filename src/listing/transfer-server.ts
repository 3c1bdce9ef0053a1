import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Person } from '../accounts/person.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import type { Review, ReviewList } from '../reviews/review.ts';
import type { Drafting } from '../servers/drafts.ts';
import type { Server } from '../servers/server.ts';

type People = { people: Collection<Person> };

/** Why a server is not given to somebody; the message is a sentence. */
export class TransferError extends Error {
  readonly code: 'person-not-found' | 'person-suspended';

  constructor(code: TransferError['code'], message: string) {
    super(message);
    this.name = 'TransferError';
    this.code = code;
  }
}

/**
 * Who is to have a server.
 *
 * @param email - of a person who has an account, in any case
 * @throws {TransferError}
 */
export async function nextOwner({ people }: People, email: string): Promise<Person> {
  const person = await people.findOne({ email: email.trim().toLowerCase() });
  if (!person)
    throw new TransferError(
      'person-not-found',
      'Nobody has an account with this address. They sign up first.',
    );
  if (person.suspendedAt) throw new TransferError('person-suspended', 'This person is suspended.');
  return person;
}

/**
 * Gives a listed server to another person, by an operator's word. Its tokens and its listener stay as they are: the
 * new owner sees and changes them, the old one does not any more.
 *
 * @param by - who decided, for the audit log
 * @returns the server as it is now; null when no such server is listed
 */
export async function transferServer(
  deps: Drafting &
    People & {
      auditLog: Collection<AuditEntry>;
      reviews: Collection<Review>;
      reviewLists: Collection<ReviewList>;
    },
  serverId: ObjectId,
  to: Pick<Person, '_id' | 'email'>,
  by: string,
): Promise<WithId<Server> | null> {
  const given = { ownerId: to._id, proof: { method: 'operator', at: deps.clock.now() } } as const;
  const before = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    { $set: given, $unset: { ownerEmail: '' } },
  );
  if (!before) return null;
  // Where the one before wished to move it is no wish of the new owner's.
  await deps.serverDrafts.deleteOne({ serverId });
  await rejectOwnersReview(deps, { serverId, personId: to._id });
  const previous = before.ownerId ? await deps.people.findOne({ _id: before.ownerId }) : null;
  const from = previous?.email ?? before.ownerEmail ?? null;
  await recordAudit(deps, { by, action: 'server.transfer', serverId, details: { from, to: to.email } });
  const { ownerEmail: _, ...server } = before;
  return { ...server, ...given };
}
