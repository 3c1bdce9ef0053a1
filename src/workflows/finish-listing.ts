import type { ObjectId, WithId } from 'mongodb';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { Server } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

/** The user who proves the ownership of a server; the e-mail address is for the audit log. */
export type Prover = { _id: ObjectId; email: string };

/**
 * The result of an attempt to prove the ownership.
 *
 * - `listed`: the server is listed for the user, or has moved.
 * - `not-proven`: the check is stored in the draft.
 * - `taken`: another user has a server at this address. For a move: any other server is listed at the new address.
 * - `too-many-servers`: the account has reached its limit of servers.
 * - `not-found`: there is no such draft or move, or the server was removed.
 */
export type ProofResult =
  | { kind: 'listed'; serverId: ObjectId }
  | { kind: 'not-proven' | 'taken' | 'too-many-servers' | 'not-found' };

export async function hasTooManyServers(
  { servers, config }: WorkflowsDeps,
  ownerId: ObjectId,
): Promise<boolean> {
  const most = config.SERVERS_PER_ACCOUNT;
  return (await servers.countDocuments({ ownerId, removedAt: null }, { limit: most })) >= most;
}

/**
 * Rejects the owner's review, writes the audit log entry, deletes the draft and requests new ranks. The entry has the
 * draft's id, so a repeated call does not write it twice.
 */
export async function finishListing(
  deps: WorkflowsDeps,
  draftId: ObjectId,
  server: WithId<Server>,
  by: string,
): Promise<void> {
  const { serverDrafts, producer } = deps;
  const { _id: serverId, name, address, port, queryPort, game, countryCode, slug, proof, ownerId } = server;
  if (ownerId) await rejectOwnersReview(deps, { serverId, userId: ownerId });
  const settings = { name, address, port, queryPort, game, countryCode, slug };
  const isNew = serverId.equals(draftId);
  await recordAuditOnce(deps, draftId, {
    by,
    action: isNew ? 'server.add' : 'server.claim',
    serverId,
    details: { ...(isNew ? settings : { slug }), proof: proof?.method ?? null },
  });
  await serverDrafts.deleteOne({ _id: draftId });
  await requestRanks(producer);
}
