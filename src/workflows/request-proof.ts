import type { ObjectId, WithId } from 'mongodb';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import { useCheckAllowance } from '../platform/limits/check-allowance.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { findDraft, findMove } from '../servers/drafts.ts';
import { findAddressOwner } from '../servers/listed-addresses.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { Server } from '../servers/server.ts';
import type { ServerDraft } from '../servers/server-draft.ts';
import type { WorkflowsDeps } from './deps.ts';

/** The user's allowance of checks is used up. */
export type CheckRefused = { kind: 'refused'; nextAllowedAt: Date };

/**
 * Decides whether the server of a draft may be checked. If so, uses one check of the user's allowance, so that nobody
 * can scan networks through Tallyport. Connects to nothing.
 *
 * @returns null when `proveDraft` may check the server; otherwise the result, or why the check is refused
 */
export async function requestDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | CheckRefused | null> {
  const known = await resumeDraftProof(deps, prover, draftId);
  return known.kind === 'unchecked' ? takeCheck(deps, prover) : known;
}

/** Like `requestDraftProof`, but for the move of a listed server. */
export async function requestMoveProof(
  deps: WorkflowsDeps,
  prover: Prover,
  serverId: ObjectId,
): Promise<ProofResult | CheckRefused | null> {
  const move = await findMove(deps, serverId);
  return move ? takeCheck(deps, prover) : { kind: 'not-found' };
}

async function takeCheck(deps: WorkflowsDeps, { _id }: Prover): Promise<CheckRefused | null> {
  const nextAllowedAt = await useCheckAllowance(deps, _id.toHexString());
  return nextAllowedAt && { kind: 'refused', nextAllowedAt };
}

/**
 * Does the last steps of a listing that was interrupted.
 *
 * @returns the result, if stored data alone decides it. `unchecked`: a worker must check the draft's server
 */
export async function resumeDraftProof(
  deps: WorkflowsDeps,
  prover: Prover,
  draftId: ObjectId,
): Promise<ProofResult | { kind: 'unchecked'; draft: WithId<ServerDraft> }> {
  const draft = await findDraft(deps, prover._id, draftId);
  const listed = await deps.servers.findOne({ _id: draftId, ownerId: prover._id });
  if (listed) {
    // If the server is listed, an earlier call was interrupted, or another one runs at the same time.
    await finishListing(deps, draftId, listed, prover.email);
    return listed.removedAt ? { kind: 'not-found' } : { kind: 'listed', serverId: listed._id };
  }
  if (!draft) return { kind: 'not-found' };
  const addressOwner = await findAddressOwner(deps, draft, prover._id);
  if (addressOwner.kind === 'other') return { kind: 'taken' };
  if (addressOwner.kind === 'own') {
    await finishListing(deps, draftId, addressOwner.server, prover.email);
    return { kind: 'listed', serverId: addressOwner.server._id };
  }
  if (await hasTooManyServers(deps, prover._id)) return { kind: 'too-many-servers' };
  return { kind: 'unchecked', draft };
}

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
