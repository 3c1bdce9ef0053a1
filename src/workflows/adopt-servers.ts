import { createHash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import type { WorkflowsDeps } from './deps.ts';

/** The audit log entry has a derived id and is written first: an interrupted run is completed without a second one. */
export async function adoptServers(
  deps: WorkflowsDeps,
  { _id: userId, email, emailVerified }: Pick<User, '_id' | 'email' | 'emailVerified'>,
): Promise<number> {
  if (!emailVerified) return 0;
  const { servers } = deps;
  const unclaimed = { ownerEmail: email, ownerId: { $exists: false }, removedAt: null };
  const waiting = await servers.find(unclaimed, { projection: { _id: 1 } }).toArray();
  let claimed = 0;
  for (const { _id } of waiting) {
    await recordAuditOnce(deps, entryId(_id, userId), {
      by: email,
      action: 'server.claim',
      serverId: _id,
      details: { personId: userId.toHexString() },
    });
    await rejectOwnersReview(deps, { serverId: _id, userId });
    const { modifiedCount } = await servers.updateOne({ _id, ...unclaimed }, { $set: { ownerId: userId } });
    claimed += modifiedCount;
  }
  return claimed;
}

/** At sign-up and sign-in. A failure is logged, and the user is signed in anyway. */
export async function adoptOnEntry(sources: WorkflowsDeps, userId: ObjectId): Promise<void> {
  const { users, log } = sources;
  try {
    const user = await users.findOne({ _id: userId });
    const claimed = user ? await adoptServers(sources, user) : 0;
    if (claimed > 0) log.info({ event: 'account.servers_claimed', userId: userId.toHexString(), claimed });
  } catch (error) {
    log.warn({ event: 'account.servers_not_claimed', reason: String(error) });
  }
}

function entryId(serverId: ObjectId, userId: ObjectId): ObjectId {
  const name = `server.claim ${serverId.toHexString()} ${userId.toHexString()}`;
  return new ObjectId(createHash('sha256').update(name).digest('hex').slice(0, 24));
}
